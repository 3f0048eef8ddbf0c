"""The pages for people: what is on them, their size, and that nothing is inline."""

import asyncio
import re
import smtplib
from email.message import EmailMessage

import pytest

from .conftest import Sandbox

PAGE_BYTES_MAX = 100_000
TERMII = {"from": "Campus", "type": "plain", "channel": "dnd", "api_key": "k"}


async def text_to(sandbox: Sandbox, phone: str, text: str) -> None:
    response = await sandbox.client.post("/sms/api/sms/send", json={**TERMII, "to": phone, "sms": text})
    assert response.status_code == 200, response.text


async def page_of(sandbox: Sandbox, path: str) -> str:
    response = await sandbox.client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8"), path
    assert "unsafe" not in response.headers["content-security-policy"]
    return response.text


@pytest.mark.parametrize("path", ["/", "/inbox", "/payments", "/traces", "/api"])
async def test_a_page_has_no_script_or_style_of_its_own_and_loads_nothing_from_elsewhere(
    sandbox: Sandbox, path: str
) -> None:
    await text_to(sandbox, "2348012345678", "Your PIN is 482913")
    await sandbox.initialize("order-1")
    page = await page_of(sandbox, path)
    assert not re.search(r"<style|<script(?! src)|\s(?:on\w+|style)=", page)
    for target in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert target.startswith(("/", "#", "data:,")), target
        if target.startswith("/"):
            assert (await sandbox.client.get(target.replace("&amp;", "&"))).status_code == 200, target


async def test_the_start_page_links_to_an_unpaid_transaction(sandbox: Sandbox) -> None:
    opened = (await sandbox.initialize("order-1", 1_234_500)).json()["data"]
    assert f'<a href="/pay/{opened["access_code"]}">₦12,345.00</a>' in await page_of(sandbox, "/")
    await sandbox.pay(opened["access_code"])
    assert opened["access_code"] not in await page_of(sandbox, "/")
    assert opened["access_code"] in await page_of(sandbox, "/payments")


async def test_the_mailbox_groups_the_addresses_of_a_named_user(sandbox: Sandbox) -> None:
    await text_to(sandbox, "2348012345678", "first text")
    await text_to(sandbox, "2348055555555", "second text")
    await text_to(sandbox, "2348066666666", "of another")
    assert (await page_of(sandbox, "/inbox")).count("<tr><td>") == 3
    owner = {"name": "Ada & Okafor", "addresses": ["+234 801 234 5678", "+2348055555555"]}
    assert (await sandbox.client.put("/control/people", json=owner)).status_code == 200
    page = await page_of(sandbox, "/inbox")
    assert page.count("<tr><td>") == 2
    assert '<a href="/inbox?person=Ada%20%26%20Okafor">Ada &amp; Okafor</a>' in page
    messages = await page_of(sandbox, "/inbox?person=Ada+%26+Okafor")
    assert all(text in messages for text in ("first text", "second text"))
    assert "of another" not in messages
    # A name with other addresses leaves its former ones to themselves.
    await sandbox.client.put("/control/people", json={**owner, "addresses": ["+2348066666666"]})
    assert "of another" in await page_of(sandbox, "/inbox?person=Ada+%26+Okafor")
    assert "first text" in await page_of(sandbox, "/inbox?person=%2B2348012345678")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "A"},
        {"name": " ", "addresses": []},
        {"name": "A", "addresses": [1]},
        {"name": "A", "addresses": ["a"] * 21},
    ],
)
async def test_a_mailbox_owner_without_a_name_or_addresses_is_rejected(sandbox: Sandbox, body) -> None:
    assert (await sandbox.client.put("/control/people", json=body)).status_code == 400


async def test_the_messages_of_a_user_have_pages(sandbox: Sandbox) -> None:
    for number in range(45):
        await text_to(sandbox, "2348012345678", f"text {number}.")
    path, seen = "/inbox?person=%2B2348012345678", []
    for expected in (20, 20, 5):
        page = await page_of(sandbox, path)
        shown = [int(number) for number in re.findall(r">text (\d+)\.<", page)]
        assert len(shown) == expected
        seen += shown
        following = re.search(r'rel="next" href="([^"]+)"', page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert seen == list(range(44, -1, -1))
    assert path == ""


async def test_the_users_of_the_mailbox_have_pages(sandbox: Sandbox) -> None:
    for number in range(53):
        await text_to(sandbox, f"23480{number:08d}", "hello")
    first = await page_of(sandbox, "/inbox")
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = await page_of(sandbox, following[1])
    assert (first.count("<tr><td>"), second.count("<tr><td>")) == (50, 3)
    assert 'rel="next"' not in second


async def test_a_full_page_of_the_longest_messages_is_small(sandbox: Sandbox) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "no-reply@campus.example", "buyer@unilag.edu.ng", "Your order"
    mail.set_content("A long line of an order. " * 400)
    mail.add_alternative("<p>Rich words</p>" * 4_000, subtype="html")

    def send() -> None:
        with smtplib.SMTP("127.0.0.1", sandbox.settings.smtp_port, timeout=60) as server:
            for _ in range(25):
                server.send_message(mail)

    await asyncio.to_thread(send)
    for number in range(60):
        await sandbox.initialize(f"order-{number}")
    for path in ("/", "/inbox", "/inbox?person=buyer@unilag.edu.ng", "/inbox?q=Campus", "/payments", "/api"):
        assert len((await page_of(sandbox, path)).encode()) <= PAGE_BYTES_MAX, path


@pytest.mark.parametrize("path", ["/inbox/mail/1", "/inbox/mail/x", "/assets/none.js", "/pay/none", "/traces/none"])
async def test_an_absent_page_is_404(sandbox: Sandbox, path: str) -> None:
    assert (await sandbox.client.get(path)).status_code == 404
