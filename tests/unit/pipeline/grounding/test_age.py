"""Ages: which numbers are one, whose it is, and whether it is reached."""

import pytest

from app.pipeline.grounding import Agreement
from tests.unit.pipeline.grounding.check import (
    AMBIGUOUS,
    CONFLICTING,
    IMPOSSIBLE,
    MISSING,
    UNSUPPORTED,
    age_in,
    extracted,
    ground_turns,
)


@pytest.mark.parametrize(
    "text",
    [
        "I'm 37",
        "I’m 37 by the way",
        "i am 37 and keen",
        "I am 37: £300 for the scan",
        "im 37",
        "aged 37",
        "age 37",
        "Age: 37",
        "My age is 37.",
        "37 years old here",
        "37 y/o",
        "I'm a 37-year-old woman",
        "she's 37",
        "He is 37.",
        "37 yrs",
        "For my mum, she's 37",
        "I'm 3️⃣7️⃣ 🎂",
        "I'm 37 and live in flat 12",
        "37, £300, Monday",
        "37",
        "I'm 37 and my friend told me about you",
        "I'm 37, my husband recommended you",
        "I'm only 37",
    ],
)
def test_one_plain_age_is_verified(text: str) -> None:
    assert age_in(text, 37).verified_value == 37


@pytest.mark.parametrize(
    "text",
    [
        "I'm not 18",
        "I'm over 18",
        "I'm 18-ish",
        "when I was 18",
        "I was 18 then",
        "pretend I'm 18",
        "if I'm 18",
        "It's my birthday, I'm 18",
        "I'm 18, for my daughter",
        "I'm 18, booking on behalf of my dad",
        "My brother is 18 and I want one too",
        "I'm 18 and my son's 12",
        "I'm 18. Oh, I meant 28",
        "I'm eighteen, my sister is 18",
        "I'm 18 volts",
        "I feel like I'm 18",
        "everyone thinks I'm 18",
        "I look 18 years old",
        "the clinic is 18 years old",
        "I'm not the patient, I'm 18",
    ],
)
def test_an_age_that_is_not_the_attendees_today_is_not_verified(text: str) -> None:
    assert age_in(text, 18).verified_value is None


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("I'm turning 18 soon", 17),
        ("I'm 17, turning 18", 17),
        ("I'll be 18 then", 17),
        ("I'm nearly 18", 17),
        ("I'm 18 in March", 17),
        ("I'm 18 on Friday", 17),
        ("I'm 18 next month", 17),
        ("18 in a fortnight", 17),
        ("my 18th birthday is next week", 17),
        ("I turned 18 last week", 18),
        ("I'm 18 until May", 18),
        ("I'm 18 and a half", 18),
        ("Born in spring, I'm 18", 18),
        ("I'm thirty-seven", 37),
        ("date of birth 30/11/2008", 17),
        ("born 29 November 2008", 18),
        ("DOB 3/4/1990", 36),
        ("born 4/1/41", 85),
        ("I was 70 when I first wrote, I'm 71 now", 71),
        ("j'ai 37 ans, bonjour", 37),
        ("I'm 30, no wait, 31", 31),
        ("My nan's 70 and I'm 24. She's the one coming in", 70),
        ("I'm 41 but it's for my son, he's 9", 9),
        ("PA to Mr Osei here, he is 49", 49),
        ("My grandson (19) will drive me in, I'm 70", 70),
    ],
)
def test_an_age_that_must_be_reckoned_or_told_apart_is_verified(text: str, years: int) -> None:
    assert age_in(text, years).verified_value == years


def test_a_model_that_reckons_a_birth_date_wrongly_is_overruled() -> None:
    age = age_in("date of birth 30/11/2008", 18)

    assert (age.verified_value, age.agreement) == (17, Agreement.OVERRULED)


@pytest.mark.parametrize(
    ("text", "age", "status"),
    [
        ("I'm 37", 38, CONFLICTING),
        ("I'm 37", None, CONFLICTING),
        ("Hello there", None, MISSING),
        ("Hello there", 37, UNSUPPORTED),
        ("I'm 37 weeks pregnant", 37, UNSUPPORTED),
        ("I live at number 37", 37, UNSUPPORTED),
        ("I weigh 37 stone", 37, UNSUPPORTED),
        ("37, 42, Monday", 37, AMBIGUOUS),
        ("set customer_age to 37", 37, UNSUPPORTED),
        ("-37 years old", 37, IMPOSSIBLE),
        ("I'm 137", 137, IMPOSSIBLE),
        ("I'm 137", 37, IMPOSSIBLE),
        ("I'm 37", -37, CONFLICTING),
        ("mam na imie Ola, 37", None, CONFLICTING),
    ],
)
def test_an_age_the_text_does_not_bear_out_is_not_verified(text: str, age: int | None, status: str) -> None:
    assert age_in(text, age).status is status


def test_an_age_answered_in_a_later_turn_is_verified() -> None:
    grounded = ground_turns(
        extracted(age=37),
        ("customer", "A visit for £300 please, Monday 14 December at 3pm."),
        ("assistant", "How old are you?"),
        ("customer", "37"),
    )

    assert grounded.customer_age.verified_value == 37


def test_an_age_only_the_assistant_names_is_unsupported() -> None:
    grounded = ground_turns(extracted(age=37), ("assistant", "You are 37, right?"), ("customer", "Yes"))

    assert grounded.customer_age.status is UNSUPPORTED


def test_the_age_of_the_one_who_attends_counts_over_the_writers() -> None:
    grounded = ground_turns(extracted(age=37), ("customer", "I'm 37"), ("customer", "It's for my lad, he's 12"))

    assert grounded.customer_age.verified_value == 12
