"""Calls every endpoint through clients that openapi-python-client makes of the served descriptions."""

import json
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, TypeVar

import events_client as events
import register_client as register
import relay_client as relay
import services_client as services
from events_client import models as e
from events_client.api.brands import verify_dns
from events_client.api.constraints import invalidate_external_api
from events_client.api.events import (
    bulk_events,
    check_eligibility,
    client_script,
    event_config,
    event_state,
    manual_event,
)
from events_client.api.payments import create_checkout, payment_mint
from events_client.api.service import debug, diagnostic, health
from events_client.api.service import docs as events_docs
from events_client.api.service import openapi as events_openapi
from events_client.api.users import user_balance, user_balance_by_body
from register_client import models as r
from register_client.api.service import docs as register_docs
from register_client.api.service import openapi as register_openapi
from register_client.api.users import pregenerate_user
from relay_client import models as l
from relay_client.api.relay import relay as relay_call
from relay_client.api.relay import relay_status
from relay_client.api.service import docs as relay_docs
from relay_client.api.service import openapi as relay_openapi
from services_client import models as s
from services_client.api.achievements import achievements, update_progress
from services_client.api.leaderboards import leaderboard, update_stats
from services_client.api.perks import (
    check_code,
    list_perks,
    perk_eligibility,
    perk_token,
    redeem_perk,
    use_code,
)
from services_client.api.service import docs as services_docs
from services_client.api.service import openapi as services_openapi
from services_client.api.streaks import (
    claim_milestone,
    record_activity,
    streak_status,
    streak_status_by_query,
)
from services_client.api.users import user_stats

WORLD: dict[str, Any] = json.loads(Path("world.json").read_text())
BRAND: str = WORLD["brandId"]
DOMAIN: str = WORLD["domain"]
PERSON: str = WORLD["person"]

at_events = events.AuthenticatedClient(base_url=WORLD["events"], token=WORLD["apiKey"])
at_register = register.AuthenticatedClient(base_url=WORLD["register"], token=WORLD["apiKey"])
at_services = services.AuthenticatedClient(base_url=WORLD["services"], token=WORLD["apiKey"])
at_relay = relay.AuthenticatedClient(base_url=WORLD["relay"], token=WORLD["userToken"])

Parsed = TypeVar("Parsed")
ANSWERS: list[dict[str, Any]] = []


class Answer(Protocol):
    """What every client answers with, each by a class of its own."""

    status_code: HTTPStatus
    content: bytes

    @property
    def parsed(self) -> Any: ...


def answered(host: str, name: str, answer: Answer, kind: type[Parsed]) -> Parsed:
    """The parsed answer, of the class that the description gives it."""
    text = answer.content.decode()
    if answer.status_code != 200 or not isinstance(answer.parsed, kind):
        raise SystemExit(f"{name}: {answer.status_code} {type(answer.parsed)} {text[:500]}")
    body = json.loads(text) if text.startswith("{") else text
    ANSWERS.append({"host": host, "id": name, "status": int(answer.status_code), "body": body})
    return answer.parsed


def must(holds: bool, what: Any) -> None:
    if not holds:
        raise SystemExit(f"unexpected: {what}")


def pay(session: str) -> None:
    """Pays for a session, as its buyer would on the processor's page."""
    request = urllib.request.Request(
        f"{WORLD['control']}/processor/sessions/{session}/pay",
        data=b'{"webhook": false}',
        headers={"authorization": f"Bearer {WORLD['controlToken']}", "content-type": "application/json"},
    )
    urllib.request.urlopen(request).close()


def call_events() -> None:
    event = e.EventByEmail(brand_id=BRAND, event_type="account_creation", user_email=PERSON, domain=DOMAIN)
    rewarded = answered(
        "events",
        "manualEvent",
        manual_event.sync_detailed(client=at_events, body=event, idempotency_key="python-1"),
        e.RewardResult,
    )
    amount: int = rewarded.reward.amount
    must(amount == rewarded.reward_amount, rewarded)

    metadata = e.EventMetadata(source="chat_manual_reward")
    metadata["anything"] = ["else"]
    by_platform = e.EventByIdentifier(
        brand_id=BRAND,
        event_type="account_creation",
        user_identifier=e.PlatformUser(platform="discord", platform_user_id=WORLD["platformUser"]),
        metadata=metadata,
    )
    unknown = e.EventByEmail(brand_id=BRAND, event_type="custom_unknown", user_email=PERSON, domain=DOMAIN)
    decided = answered(
        "events",
        "bulkEvents",
        bulk_events.sync_detailed(client=at_events, body=e.BulkEvents(events=[by_platform, unknown])),
        e.BulkResult,
    )
    first, second = decided.results
    must(isinstance(first, e.BulkRewarded) and isinstance(second, e.BulkRefused), decided)

    state = answered(
        "events", "eventState", event_state.sync_detailed(str(rewarded.event_id), client=at_events), e.EventState
    )
    must(state.status is not e.RewardStatus.FAILED, state)
    config = answered("events", "eventConfig", event_config.sync_detailed(client=at_events, brand_id=BRAND), e.EventConfig)
    patterns: list[str] = config.events[0].detection_config.url_patterns
    must(isinstance(patterns, list), config)
    answered("events", "checkEligibility", check_eligibility.sync_detailed(client=at_events, body=event), e.Eligibility)
    script = answered("events", "clientScript", client_script.sync_detailed(client=at_events), str)
    must("rewards-api" in script, script[:100])
    answered(
        "events",
        "userBalance",
        user_balance.sync_detailed(client=at_events, brand_id=BRAND, user_email=PERSON, include_history=True, history_limit=5),
        e.BalanceResult,
    )
    question = e.BalanceQuestion(brand_id=BRAND, user_email=PERSON, include_history=True)
    balance = answered("events", "userBalanceByBody", user_balance_by_body.sync_detailed(client=at_events, body=question), e.BalanceResult)
    must(isinstance(balance.history, list) and balance.history[0].event_type == "account_creation", balance)
    call_payments()
    state_of_all = answered("events", "health", health.sync_detailed(client=at_events), e.Health)
    must(state_of_all.services.database is e.DependencyState.CONNECTED, state_of_all)
    answered("events", "diagnostic", diagnostic.sync_detailed(client=at_events), e.Diagnostic)
    answered("events", "debug", debug.sync_detailed(client=at_events), e.Debug)
    answered("events", "openapi", events_openapi.sync_detailed(client=at_events), e.Document)
    answered("events", "docs", events_docs.sync_detailed(client=at_events), str)


def call_payments() -> None:
    page = f"https://{DOMAIN}/"
    wish = e.Checkout(brand_id=BRAND, amount=500, user_email=PERSON, success_url=page, cancel_url=page)
    session = answered("events", "createCheckout", create_checkout.sync_detailed(client=at_events, body=wish), e.CheckoutSession)
    pay(session.session_id)
    minted = answered(
        "events",
        "paymentMint",
        payment_mint.sync_detailed(client=at_events, body=e.Mint(session_id=session.session_id)),
        e.Minted,
    )
    rwt: int = minted.rwt_amount
    must(rwt == 5_000, minted)
    forgotten = e.Invalidation(api_url="https://api.demo.example/eligible")
    answered(
        "events", "invalidateExternalApi", invalidate_external_api.sync_detailed(client=at_events, body=forgotten), e.InvalidationResult
    )
    answered("events", "verifyDns", verify_dns.sync_detailed(client=at_events, body=e.VerifyDns(domain=DOMAIN)), e.DnsResult)


def call_register() -> None:
    account = r.PlatformRegistration(brand_id=BRAND, oauth_provider="discord", oauth_user_id=WORLD["platformUser"])
    wallet = answered("register", "pregenerateUser", pregenerate_user.sync_detailed(client=at_register, body=account), r.Wallet)
    must(not wallet.created_new, wallet)
    by_email = r.EmailRegistration(email=PERSON, brand_id=BRAND)
    answered("register", "pregenerateUser", pregenerate_user.sync_detailed(client=at_register, body=by_email), r.Wallet)
    answered("register", "openapi", register_openapi.sync_detailed(client=at_register), r.Document)
    answered("register", "docs", register_docs.sync_detailed(client=at_register), str)


def call_relay() -> None:
    call = l.RelayRequest.from_dict(WORLD["relayCall"])
    sent = answered("relay", "relay", relay_call.sync_detailed(client=at_relay, body=call), l.RelayResult)
    state = answered("relay", "relayStatus", relay_status.sync_detailed(sent.transaction_hash, client=at_relay), l.RelayState)
    must(state.status is l.RelayStatus.CONFIRMED, state)
    answered("relay", "openapi", relay_openapi.sync_detailed(client=at_relay), l.Document)
    answered("relay", "docs", relay_docs.sync_detailed(client=at_relay), str)


def call_services() -> None:
    stats = answered("services", "userStats", user_stats.sync_detailed(BRAND, PERSON, client=at_services), s.UserStats)
    must(stats.lifetime.claims >= 1, stats)
    board = answered(
        "services",
        "leaderboard",
        leaderboard.sync_detailed(
            BRAND,
            client=at_services,
            metric=s.LeaderboardMetricName.EVENTS_COMPLETED,
            period=s.LeaderboardPeriodName.WEEKLY,
            limit=5,
            user_identifier=PERSON,
        ),
        s.LeaderboardResult,
    )
    must(board.metric is s.LeaderboardMetric.CLAIMS, board)
    must(board.period is s.LeaderboardPeriod.WEEK and len(board.leaderboard) > 0, board)
    report = s.StatsReport(brand_id=BRAND, user_identifier=PERSON, rwt_amount=5)
    answered("services", "updateStats", update_stats.sync_detailed(client=at_services, body=report), s.StatsReported)
    answered("services", "achievements", achievements.sync_detailed(BRAND, PERSON, client=at_services), s.AchievementsResult)
    progress = s.ProgressReport(brand_id=BRAND, user_identifier=PERSON, achievement_type="chatterbox", increment=True)
    answered("services", "updateProgress", update_progress.sync_detailed(client=at_services, body=progress), s.Progress)
    activity = s.ActivityReport(brand_id=BRAND, user_identifier=PERSON)
    answered("services", "recordActivity", record_activity.sync_detailed(client=at_services, body=activity), s.RecordedActivity)
    streak = answered("services", "streakStatus", streak_status.sync_detailed(BRAND, PERSON, client=at_services), s.StreakStatus)
    must(streak.current_streak == 1 and isinstance(streak.next_milestone, s.Milestone), streak)
    answered(
        "services",
        "streakStatusByQuery",
        streak_status_by_query.sync_detailed(client=at_services, brand_id=BRAND, user_identifier=PERSON),
        s.StreakStatus,
    )
    claim = s.MilestoneClaim(brand_id=BRAND, user_identifier=PERSON, milestone_days=1)
    answered("services", "claimMilestone", claim_milestone.sync_detailed(client=at_services, body=claim), s.ClaimedMilestone)
    call_perks()
    answered("services", "openapi", services_openapi.sync_detailed(client=at_services), s.Document)
    answered("services", "docs", services_docs.sync_detailed(client=at_services), str)


def call_perks() -> None:
    offered = answered(
        "services",
        "listPerks",
        list_perks.sync_detailed(BRAND, client=at_services, category=s.PerkCategoryFilter.DIGITAL, active_only=False),
        s.PerksResult,
    )
    must(offered.perks[0].category is s.PerkCategory.DIGITAL, offered)
    token = answered("services", "perkToken", perk_token.sync_detailed(f"{2:064x}.json", client=at_services), s.PerkToken)
    must(token.properties.category is s.PerkCategory.DIGITAL, token)
    question = s.PerkQuestion(brand_id=BRAND, user_identifier=PERSON, perk_id=WORLD["perkId"])
    eligible = answered("services", "perkEligibility", perk_eligibility.sync_detailed(client=at_services, body=question), s.PerkEligibility)
    must(eligible.eligible, eligible)
    wish = s.Redemption(brand_id=BRAND, user_identifier=PERSON, perk_id=WORLD["perkId"])
    redeemed = answered("services", "redeemPerk", redeem_perk.sync_detailed(client=at_services, body=wish), s.RedeemedPerk)
    code = s.CodeQuestion(brand_id=BRAND, code=redeemed.confirmation_code)
    checked = answered("services", "checkCode", check_code.sync_detailed(client=at_services, body=code), s.CheckedCode)
    must(checked.state is s.CodeState.VALID, checked)
    used = answered("services", "useCode", use_code.sync_detailed(client=at_services, body=code), s.UsedCode)
    must(used.used_at is not None, used)


def must_not_check() -> list[Callable[[], Any]]:
    """Is checked and never called: mypy reports each `type: ignore` that is not needed."""
    return [
        lambda: e.EventByEmail(brand_id=BRAND, event_type="x"),  # type: ignore[call-arg]
        lambda: e.EventByIdentifier(brand_id=BRAND, event_type="x"),  # type: ignore[call-arg]
        lambda: e.EventByEmail(brand_id=BRAND, event_type="x", user_email=17),  # type: ignore[arg-type]
        lambda: e.BulkEvents(events=[{"eventType": "x"}]),  # type: ignore[list-item]
        lambda: s.Redemption(brand_id=BRAND, user_identifier="x"),  # type: ignore[call-arg]
        lambda: leaderboard.sync(BRAND, client=at_services, metric="luck"),  # type: ignore[arg-type]
        lambda: check_code.sync(client=services.Client(base_url="x"), body=s.CodeQuestion("x", "x")),  # type: ignore[arg-type]
    ]


call_events()
call_register()
call_relay()
call_services()
Path("answers.json").write_text(json.dumps(ANSWERS))
