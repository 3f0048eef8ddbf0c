"""Request models (contract section 7), one module for each noun. Amounts in kobo."""
