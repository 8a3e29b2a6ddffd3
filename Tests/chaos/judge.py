"""Holds what the sandbox saw, and what the store wrote down, against what the hosts were told."""

import collections

# A worker that dies may have sent, but not yet recorded, what was answered so long before, in seconds, unless told otherwise.
UNRECORDED = 2
# A change (a delete, a new token, a dismissal) may meet a delivery that waits for a connection, as it does for the 10 s of
# a request at most.
ON_ITS_WAY = 10

# What would come again only after its deadline ends before it: the longest pause asked for, in ms.
LAST_PAUSE = 40_000

OUTCOMES = {1: "sent", 2: "dead", 3: "failed", 4: "expired", 5: "cancelled"}


class Push:
    """One request that the sandbox saw."""

    def __init__(self, request):
        self.number, self.provider = request["number"], request["provider"]
        self.began = request["time"] / 1000
        self.ended = self.began + request["durationMs"] / 1000
        self.connection = (request["provider"], request.get("environment"), request["connection"])
        headers, body = request["headers"], request["body"]
        self.worker = headers["host"].split(":")[0]
        self.status = request["answer"]["status"]
        self.is_accepted = request["answer"]["delivered"]
        self.is_gone = self.status == 410 or (self.provider == "fcm" and self.status == 404)
        if self.provider == "fcm":
            message = body["message"]
            orca = message["data"]
            # What may differ between two attempts: what is left of its life, and the token after a new registration.
            self.token = message.pop("token")
            message["android"].pop("ttl")
            self.identity = str(message)
        else:
            self.token, orca = request["token"], body["orca"]
            self.identity = str((headers["apns-id"], headers.get("apns-collapse-id"), headers["apns-expiration"], body))
        self.event = (orca["hostFingerprint"], orca.get("kind", "alert"), int(orca["notificationSeq"]))

    def __str__(self):
        return f"push {self.number} of {self.event} by {self.worker} from {self.began:.3f} to {self.ended:.3f} ({self.status})"


class Judge:
    """The figures of a run, and every promise that was seen broken."""

    def __init__(self, gateway, load, pushes, unrecorded=UNRECORDED):
        self.gateway, self.load, self.unrecorded = gateway, load, unrecorded
        self.outages = getattr(gateway.store, "outages", [])
        self.faults, self.figures = [], collections.Counter()
        self.stall, self.stalled = 0, None
        # What never reached the provider waits as a retry does, and may be overtaken: on a machine that is so busy that
        # connections break, nobody can tell from outside.
        self.lost_connections = any(
            f'"message":"{words}' in worker.log.read_text() for worker in gateway.workers.values()
            for words in ("connections to ", "lane parked"))
        self.pushes = sorted(pushes, key=lambda push: push.number)
        self.phones = {token: phone for record in load.records for phone in record.phones for token in phone.tokens}
        self.births = {}
        for push in self.pushes:
            self.births.setdefault(push.connection, push.began)
        # Tries of each delivery, in order.
        self.tries = collections.defaultdict(list)
        for push in self.pushes:
            phone = self.phones.get(push.token)
            if phone is None:
                self.fault("unknown", f"a push for a token that nobody registered: {push.event}")
            else:
                self.tries[push.event, phone.id].append(push)
        self.outcomes = {}
        # Those that ended so late that their deadline was the reason.
        self.late = set()
        for host, kind, seq, registration, outcome, left in gateway.store.rows("""
                select h.fingerprint, e.kind, e.seq, d.registration_id, r.outcome, e.expires_at - r.done_at
                  from push_event_recipients r
                  join push_events e on e.host_no = r.host_no and e.kind = r.kind and e.number = r.number
                  join push_hosts h on h.host_no = r.host_no
                  left join push_devices d on d.device_no = r.device_no"""):
            event = (host, "alert" if int(kind) == 1 else "dismiss", int(seq))
            self.outcomes[event, registration] = OUTCOMES.get(outcome and int(outcome))
            if left is not None and int(left) < LAST_PAUSE:
                self.late.add((event, registration))

    def fault(self, kind, words):
        self.figures[kind] += 1
        self.faults.append(f"{kind}: {words}")

    def run(self):
        for words in self.load.complaints:
            self.fault("wrong answers", words)
        for record in self.load.records:
            for phone in record.phones:
                self._follow(record, phone)
        for tries in self.tries.values():
            self._compare(tries)
        self._gone()

    def _follow(self, record, phone):
        """Every event for one registration: whether it came, and in which order."""
        events = sorted((e for e in record.events if phone.id in e.queued), key=lambda e: e.sent[phone.id])
        dismissals = {}
        for event in events:
            if event.kind == "dismiss":
                dismissals.setdefault(event.about, []).append(event)
        firsts = []
        for event in events:
            self.figures["queued"] += 1
            name = (record.fingerprint, event.kind, event.seq)
            tries = self.tries.get((name, phone.id), [])
            over = [d for d in dismissals.get(event.about, []) if d.seq >= event.seq] if event.kind == "alert" else []
            self._arrived(event, name, phone, tries, over)
            if not tries:
                continue
            firsts.append(tries[0])
            for dismissal in over:
                known = dismissal.queued[phone.id]
                first = self.tries.get(((record.fingerprint, "dismiss", dismissal.seq), phone.id), [None])[0]
                for push in tries:
                    if push.began > known + ON_ITS_WAY or (first and push.number > first.number):
                        self.fault("after the fact", f"{name} went out {push.began - known:.1f} s after its dismissal")

        after = None
        for push in reversed(firsts):
            if after and push.number > after.number and self.lost_connections:
                self.figures["overtaken"] += 1
            elif after and push.number > after.number:
                self.fault("out of order", f"{push} came after {after}, which was sent later")
            else:
                after = push

    def _arrived(self, event, name, phone, tries, over):
        first = next((push for push in tries if push.is_accepted), None)
        outcome = self.outcomes.get((name, phone.id))
        if first:
            self.figures["delivered"] += 1
            stall = first.began - event.queued[phone.id]
            if stall > self.stall:
                self.stall, self.stalled = stall, name
            # A dismissal or a deadline may end what a worker sent and did not live to record.
            is_ended = (outcome == "cancelled" and over) or (outcome == "expired" and (name, phone.id) in self.late)
            if outcome not in ("sent", None) and not phone.is_spoilt and not is_ended:
                self.fault("wrongly recorded", f"{name} arrived and is recorded as {outcome}")
        elif outcome == "cancelled" and (over or phone.is_spoilt) or outcome is None and phone.deleted:
            self.figures["cancelled"] += 1
        elif outcome == "dead" and phone.is_spoilt:
            self.figures["dead"] += 1
        elif outcome == "expired" and (name, phone.id) in self.late:
            self.figures["expired"] += 1
        else:
            self.fault("lost", f"{name}, recorded as {outcome}, answered {[push.status for push in tries]}")

    def _compare(self, tries):
        if len({push.identity for push in tries}) > 1:
            self.fault("changed", f"{tries[0].event} was repeated with another id or body")
        accepted = [push for push in tries if push.is_accepted]
        for before, push in zip(accepted, accepted[1:]):
            self.figures["repeats"] += 1
            if not self._may_repeat(before, push):
                self.fault("repeats outside flight", f"{push} after {before}")

    def _may_repeat(self, before, push):
        """Whether the worker that sent `before` was cut off, or the database away, before the answer can be relied on to be
        recorded."""
        for began, ended in self.outages:
            if began - self.unrecorded <= before.ended <= ended + self.unrecorded:
                return True
        born = self.births[before.connection]
        life = [life for life in self.gateway.workers[before.worker].lives if life.began <= born][-1]
        return any(before.began - 0.5 <= cut <= min(push.began, before.ended + self.unrecorded) for cut in life.cuts)

    def _gone(self):
        """Nothing goes to a token after it was replaced, deleted or refused as gone."""
        refused = {}
        for push in self.pushes:
            phone = self.phones.get(push.token)
            if phone is None:
                continue
            over = phone.tokens[push.token]
            if over and push.began > over + ON_ITS_WAY:
                self.fault("after the fact", f"{push.event} went to a token {push.began - over:.1f} s after its end")
            if push.token in refused and not self._may_repeat(refused[push.token], push):
                self.fault("after the fact", f"{push} went to a token that was known to be dead since {refused[push.token]}")
            if push.is_gone:
                refused[push.token] = push

    def report(self):
        rows, leases, open = self.gateway.waiting()
        if rows or open:
            self.fault("left in the queue", f"{rows} rows, {leases} of them under a lease, {open} deliveries without an end")
        kinds = [
            "queued", "delivered", "cancelled", "expired", "dead", "lost", "repeats", "repeats outside flight", "changed",
            "out of order", "overtaken", "after the fact", "wrongly recorded", "wrong answers", "unknown", "left in the queue"]
        lines = [("sends", self.load.sends), ("repeated by hosts", self.load.unanswered), ("put off by the api", self.load.busy)]
        lines += [("pushes", len(self.pushes)), ("retried pushes", sum(not push.is_accepted for push in self.pushes))]
        lines += [(kind, self.figures[kind]) for kind in kinds]
        lines += [("rows left", rows), ("leases left", leases), ("longest stall", f"{self.stall:.1f} s")]
        return lines
