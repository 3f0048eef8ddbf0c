"""Nigerian account numbers: the check digit, and a name for every account that was not given one."""

# Each list is read with its own three digits of the account number, so that neighbours have different names.
FIRST_NAMES = (
    "ADEBAYO",
    "AMINA",
    "CHIDI",
    "EFE",
    "FATIMA",
    "GBENGA",
    "HALIMA",
    "IFEOMA",
    "KELECHI",
    "NGOZI",
    "OLUMIDE",
    "ZAINAB",
)
MIDDLE_NAMES = (
    "ADAEZE",
    "BABATUNDE",
    "CHUKWUDI",
    "DAMILOLA",
    "EMEKA",
    "FUNMILAYO",
    "IBRAHIM",
    "OLUWASEUN",
    "UCHE",
    "YETUNDE",
)
LAST_NAMES = (
    "ABUBAKAR",
    "ADEYEMI",
    "BALOGUN",
    "BELLO",
    "EZE",
    "IGWE",
    "MUSA",
    "NWOSU",
    "OKAFOR",
    "OKORO",
    "OLAWALE",
    "SANI",
    "UDO",
)

WEIGHTS = (3, 7, 3) * 5


def is_account_number(text: str) -> bool:
    """Ten ASCII digits."""
    return len(text) == 10 and text.isascii() and text.isdigit()


def check_digit(bank_code: str, serial: str) -> int | None:
    """
    Return the tenth digit of an account number from its first nine; None for a bank code outside the rule (one with
    letters). The bank code is brought to six digits: three get `000` in front, five get `9`.
    """
    prefix = {3: "000", 5: "9", 6: ""}.get(len(bank_code))
    if prefix is None or not bank_code.isdigit():
        return None
    digits = prefix + bank_code + serial
    return (10 - sum(int(digit) * weight for digit, weight in zip(digits, WEIGHTS, strict=True)) % 10) % 10


def account_exists(bank_code: str, account_number: str) -> bool:
    """In the sandbox an account exists when its check digit is right, or when its bank has no check digit rule."""
    digit = check_digit(bank_code, account_number[:9])
    return digit is None or digit == int(account_number[9])


def name_of_unknown_account(account_number: str) -> str:
    """Return the generated owner of an account number, always the same for the same number."""
    return " ".join(
        names[int(account_number[start : start + 3]) % len(names)]
        for names, start in ((FIRST_NAMES, 6), (MIDDLE_NAMES, 3), (LAST_NAMES, 0))
    )
