"""Hosts that send alerts and dismissals to their phones without end, repeat what got no answer, and write down what they
were told."""

import http.client
import itertools
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))
from host import Host  # noqa: E402

from programs import ORIGIN  # noqa: E402


class Phone:
    """A registration, with every token that it had."""

    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.route = rng.choice(["production", "production", "sandbox", "fcm"])
        self.id = None
        # Tokens, each with when it was known to be out of use.
        self.tokens = {}
        self.token = None
        self.is_doomed = False
        # Deleted, or once unknown to the provider: what was queued meanwhile need not arrive.
        self.is_spoilt = False
        self.deleted = None

    def renew(self):
        """A new token, for the next registration."""
        token = "%064x" % self.rng.getrandbits(256)
        self.next = token if self.route != "fcm" else token[:22] + ":APA91b" + token * 2
        return self.next

    def took(self, now):
        """The gateway has the new token, and the old one is out of use."""
        if self.token:
            self.tokens[self.token] = now
        self.token = self.next
        self.tokens[self.token] = None


class Event:
    """What a host told its phones, and what it was answered."""

    def __init__(self, host, kind, seq, about, expires_at=None):
        self.host, self.kind, self.seq, self.about, self.expires_at = host, kind, seq, about, expires_at
        # By registration: when it was first sent to it, and when it was first answered `queued`.
        self.sent, self.queued = {}, {}

    def notification(self, sound=True):
        notification = {
            "notificationId": self.about, "notificationSeq": self.seq, "notificationEpoch": "epoch-1",
            "source": "agent-task-complete", "agentState": "needs-input", "title": f"Title {self.seq}", "body": "Body " * 20}
        if self.kind == "dismiss":
            notification["kind"] = "dismiss"
        if self.expires_at:
            notification["expiresAt"] = self.expires_at
        if not sound:
            notification["sound"] = False
        return notification


class Record:
    """One host's life, for the judge."""

    def __init__(self, fingerprint):
        self.fingerprint, self.phones, self.events = fingerprint, [], []


class Load:
    """Several hosts at once, each a thread; a host that has sent enough makes room for a new one."""

    def __init__(self, gateway, hosts, seed):
        self.gateway, self.ending = gateway, threading.Event()
        self.records, self.sends, self.unanswered, self.busy, self.complaints = [], 0, 0, 0, []
        self.numbers = itertools.count(1)
        self.threads = [threading.Thread(target=self._run, args=[random.Random(f"{seed}/{n}")]) for n in range(hosts)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Lets each host finish what it is about to say."""
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def _run(self, rng):
        try:
            while not self.ending.is_set():
                Talk(self, rng).run()
        except Exception as error:  # A host that stops early would make the load, and the judgement, say too little.
            self.complaints.append(f"a host gave up: {error!r}")


class Talk:
    """What one host says in its life."""

    # Fewer than the quota of 300 in 15 minutes.
    MOST = 120

    def __init__(self, load, rng):
        self.load, self.rng = load, rng
        # Budgets of the handshake go by client address.
        address = "10.%d.%d.%d" % tuple(rng.randrange(256) for _ in range(3))
        self.host = Host(None, ORIGIN, {"x-forwarded-for": address})
        self.record = Record(self.host.fingerprint)
        self.seqs = itertools.count(1)

    def run(self):
        while not self.host.session and not self.load.ending.is_set():
            # A challenge whose answer got lost is spent: from the start.
            self._insist(self.host.prove)
        self.load.records.append(self.record)
        for n in range(self.rng.randint(1, 5)):
            self.record.phones.append(Phone(f"phone-{n}", self.rng))
            self._register(self.record.phones[-1])
        for _ in range(self.MOST):
            if self.load.ending.is_set():
                return
            self._act()
            time.sleep(self.rng.expovariate(1 / 0.06))

    def _act(self):
        choice = self.rng.random()
        alerts = [event for event in self.record.events if event.kind == "alert"]
        phones = [phone for phone in self.record.phones if not phone.deleted]
        if not phones:
            self.record.phones.append(Phone(f"phone-{len(self.record.phones)}", self.rng))
            self._register(self.record.phones[-1])
        elif choice < 0.25 and alerts:
            about = self.rng.choice(alerts[-4:])
            self._tell(Event(self.record, "dismiss", next(self.seqs), about.about), phones)
        elif choice < 0.28 and alerts:
            self._tell(self.rng.choice(alerts[-8:]), phones, isRepeat=True)
        elif choice < 0.30:
            phone = self.rng.choice(phones)
            phone.is_doomed = False
            self._register(phone)
        elif choice < 0.31:
            self._delete(self.rng.choice(phones))
        elif choice < 0.32:
            self._doom(self.rng.choice(phones))
        elif choice < 0.33:
            # An alert that its own dismissal has overtaken.
            late = Event(self.record, "alert", next(self.seqs), f"run-{next(self.load.numbers)}")
            self._tell(Event(self.record, "dismiss", next(self.seqs), late.about), phones)
            self._tell(late, phones)
        else:
            about = f"run-{next(self.load.numbers)}"
            if choice < 0.40 and alerts:
                about = self.rng.choice(alerts[-4:]).about
            expires = int((time.time() + 3) * 1000) if choice > 0.97 else None
            event = Event(self.record, "alert", next(self.seqs), about, expires)
            if choice > 0.9 and len(phones) > 1:
                # Some of the phones are to be silent.
                self._tell(event, phones[:1])
                self._tell(event, phones[1:], sound=False)
            else:
                self._tell(event, self.rng.sample(phones, self.rng.randint(1, len(phones))))

    def _tell(self, event, phones, sound=True, isRepeat=False):
        phones = [phone for phone in phones if not isRepeat or phone.id in event.queued]
        if not phones:
            return
        now = time.time()
        for phone in phones:
            event.sent.setdefault(phone.id, now)
        if event not in self.record.events:
            self.record.events.append(event)
        self.load.sends += 1
        answer = self._insist(lambda: self.host.ask("POST", "/v1/send", {
            "v": 1, "registrationIds": [phone.id for phone in phones], "notification": event.notification(sound)}))
        if answer["status"] != 200:
            return self._complain("/v1/send", answer)
        for phone, result in zip(phones, answer["body"]["results"]):
            if result["status"] == "queued":
                event.queued.setdefault(phone.id, time.time())
            elif result["status"] == "dead" and phone.is_doomed:
                pass
            elif result["status"] == "error" and event.expires_at and event.expires_at < time.time() * 1000:
                pass
            else:
                self._complain("/v1/send", result)

    def _register(self, phone):
        body = {
            "v": 1, "deviceId": phone.name, "platform": "android" if phone.route == "fcm" else "ios",
            "token": phone.renew()}
        if phone.route != "fcm":
            body["apnsEnvironment"] = phone.route
        answer = self._insist(lambda: self.host.ask("POST", "/v1/devices", body))
        if answer["status"] != 200:
            return self._complain("/v1/devices", answer)
        phone.id = answer["body"]["registrationId"]
        phone.took(time.time())

    def _delete(self, phone):
        answer = self._insist(lambda: self.host.ask("DELETE", "/v1/devices/" + phone.id))
        # 404 where the answer to the first try got lost.
        if answer["status"] not in (204, 404):
            return self._complain("DELETE /v1/devices", answer)
        phone.deleted = time.time()
        phone.is_spoilt = True
        phone.tokens[phone.token] = phone.deleted

    def _doom(self, phone):
        """The provider knows the token no more from now on."""
        phone.is_doomed = phone.is_spoilt = True
        gone = {"status": 404, "reason": "UNREGISTERED"} if phone.route == "fcm" else {"status": 410, "reason": "Unregistered"}
        self.load.gateway.sandbox.script({"rules": [{"token": phone.token, "steps": [{**gone, "times": "always"}]}]})

    def _insist(self, question):
        """Asks until there is an answer that is no `try again`, and says the same again where there is none."""
        while True:
            self.host.gateway = self.rng.choice(list(self.load.gateway.doors.values()))
            try:
                answer = question()
            except (OSError, http.client.HTTPException, ValueError):
                self.load.unanswered += 1
                time.sleep(0.05)
                continue
            if answer["status"] != 503:
                return answer
            self.load.busy += 1
            time.sleep(0.2)

    def _complain(self, what, answer):
        self.load.complaints.append(f"{what} was answered {answer}")
