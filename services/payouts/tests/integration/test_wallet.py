async def test_a_release_is_credited_and_shown(story):
    vendor = await story.ready_vendor(500_000)
    assert await story.wallet(vendor) == {
        "availableMinor": 500_000, "lockedMinor": 0, "inTransitMinor": 0, "debtMinor": 0, "currency": "NGN",
    }  # fmt: skip
    payout_id = await story.payout(vendor, 200_000)
    assert (await story.wallet(vendor))["inTransitMinor"] == 200_000
    answer = await story.dispatch("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["transfers"][0]["payoutId"] == payout_id
