#!/usr/bin/env python3
"""The dashboard, from one list that people can read.

    dashboard.py >dashboard.json     import that into Grafana; it asks for the Prometheus data source

`render.py` draws the same panels from a running Prometheus, without Grafana.
"""

import json

RANGE = "$__rate_interval"

# Row: panels from left to right. Panel: title, unit, and what is drawn: a legend and its PromQL. A third member of a line is
# the alert's threshold.
ROWS = [
    ("At a glance", [
        ("Queue depth", "short", [("deliveries", "max(orca_push_queue_depth)")]),
        ("Oldest due", "s", [("oldest", "max(orca_push_queue_oldest_due_seconds)", 30)]),
        ("Delivered", "ops", [("{{outcome}}", f"sum by (outcome) (rate(orca_push_deliveries_total[{RANGE}]))")]),
        ("Lanes parked, killing paused", "short", [
            ("parked {{provider}} {{environment}}", "max by (provider, environment) (orca_push_lane_parked)", 1),
            ("paused {{provider}}", "max by (provider) (orca_push_invalidation_paused)", 1),
        ]),
    ]),
    ("Admission", [
        ("Requests", "reqps", [("{{route}}", f"sum by (route) (rate(orca_push_http_requests_total[{RANGE}]))")]),
        ("Not 2xx", "reqps", [
            ("{{status}}", f'sum by (status) (rate(orca_push_http_requests_total{{status!~"2.."}}[{RANGE}]))')]),
        ("Time to answer a send", "s", [
            ("p50", f'histogram_quantile(0.5, sum by (le) (rate(orca_push_http_request_seconds_bucket{{route="/v1/send"}}[{RANGE}])))'),
            ("p99", f'histogram_quantile(0.99, sum by (le) (rate(orca_push_http_request_seconds_bucket{{route="/v1/send"}}[{RANGE}])))'),
        ]),
        ("Results, and sends a commit", "short", [
            ("{{result}} /s", f"sum by (result) (rate(orca_push_sends_total[{RANGE}]))"),
            ("sends a commit", f"sum(rate(orca_push_admission_batch_size_sum[{RANGE}])) / sum(rate(orca_push_admission_batch_size_count[{RANGE}]))"),
        ]),
    ]),
    ("Delivery", [
        ("Admission to acceptance", "s", [
            ("p50 {{provider}}", f"histogram_quantile(0.5, sum by (le, provider) (rate(orca_push_delivery_seconds_bucket[{RANGE}])))"),
            ("p99 {{provider}}", f"histogram_quantile(0.99, sum by (le, provider) (rate(orca_push_delivery_seconds_bucket[{RANGE}])))"),
        ]),
        ("Provider's answer", "s", [
            ("p99 {{provider}}", f"histogram_quantile(0.99, sum by (le, provider) (rate(orca_push_provider_request_seconds_bucket[{RANGE}])))"),
        ]),
        ("Answers that were not accepted", "ops", [
            ("{{provider}} {{reason}}", f'sum by (provider, reason) (rate(orca_push_attempts_total{{reason!="accepted"}}[{RANGE}])) > 0')]),
        ("In flight, connections", "short", [
            ("in flight {{provider}}", "sum by (provider) (orca_push_in_flight)"),
            ("connections {{provider}}", "sum by (provider) (orca_push_provider_connections)"),
        ]),
    ]),
    ("Underneath", [
        ("Database connections", "short", [("{{state}}", "sum by (state) (orca_push_database_connections)")]),
        ("Credential age", "s", [("{{provider}}", "max by (provider) (orca_push_credential_age_seconds)", 4500)]),
        ("Leases lost, log lines dropped", "short", [
            ("leases", "sum(increase(orca_push_leases_lost_total[10m]))", 10),
            ("log lines", "sum(increase(orca_push_log_lines_dropped_total[10m]))"),
        ]),
        ("Memory and CPU", "short", [
            ("MiB {{job}}", "max by (job) (process_resident_memory_bytes) / 1048576"),
            ("CPU % {{job}}", f"100 * sum by (job) (rate(process_cpu_seconds_total[{RANGE}]))"),
        ]),
    ]),
]


def panel(number, title, unit, lines, column, top):
    steps = [{"color": "green", "value": None}]
    thresholds = [line[2] for line in lines if len(line) > 2]
    if thresholds:
        steps.append({"color": "red", "value": min(thresholds)})
    return {
        "id": number, "type": "timeseries", "title": title,
        "gridPos": {"h": 7, "w": 6, "x": 6 * column, "y": top},
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "targets": [
            {"refId": chr(65 + place), "expr": line[1], "legendFormat": line[0]} for place, line in enumerate(lines)],
        "fieldConfig": {"defaults": {
            "unit": unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps},
            "custom": {"lineWidth": 1, "fillOpacity": 8, "thresholdsStyle": {"mode": "line" if thresholds else "off"}},
        }, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
    }


def dashboard():
    panels = []
    top = 0
    for name, row in ROWS:
        panels.append({
            "id": len(panels) + 1, "type": "row", "title": name, "collapsed": False, "panels": [],
            "gridPos": {"h": 1, "w": 24, "x": 0, "y": top}})
        for column, (title, unit, lines) in enumerate(row):
            panels.append(panel(len(panels) + 1, title, unit, lines, column, top + 1))
        top += 8
    return {
        "uid": "orca-push", "title": "Push gateway", "schemaVersion": 39, "version": 1, "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "utc", "panels": panels, "annotations": {"list": []},
        "links": [{"title": "Runbook", "type": "link", "url": "https://github.com/stablyai/orca/blob/main/docs/operations.md#runbook"}],
        "templating": {"list": [{"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}]},
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
