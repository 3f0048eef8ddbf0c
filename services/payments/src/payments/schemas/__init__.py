"""Request and response shapes (contract sections 7 and 15.8), one module for each noun. Amounts in kobo."""
