"""What h11 and httptools (llhttp) make of requests, for ServerDifferentialTests.

Each line of the file named on the command line is one request in hex. Each line of output is what h11 and what httptools
make of it, with a tab between: "METHOD TARGET BODY-IN-HEX", "incomplete METHOD TARGET" or "refused WHY".
"""

import sys

import h11
import httptools


def by_h11(raw):
    connection = h11.Connection(h11.SERVER)
    head = None
    body = b""
    try:
        connection.receive_data(raw)
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                break
            if isinstance(event, h11.Request):
                head = event.method.decode("latin1") + " " + event.target.decode("latin1")
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                if connection.trailing_data[0]:
                    return "refused bytes left over"
                return head + " " + body.hex()
    except h11.RemoteProtocolError as error:
        return "refused " + str(error)
    return "incomplete " + head if head else "refused no head"


class Events:
    def __init__(self):
        self.url = b""
        self.body = b""
        self.head_is_whole = False
        self.complete = 0

    def on_url(self, url):
        self.url += url

    def on_body(self, body):
        self.body += body

    def on_headers_complete(self):
        self.head_is_whole = True

    def on_message_complete(self):
        self.complete += 1


def by_httptools(raw):
    events = Events()
    parser = httptools.HttpRequestParser(events)
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        return "refused upgrade"
    except httptools.HttpParserError as error:
        return "refused " + str(error)
    head = parser.get_method().decode("latin1") + " " + events.url.decode("latin1")
    if events.complete == 1:
        return head + " " + events.body.hex()
    return "incomplete " + head if events.head_is_whole else "refused no head"


with open(sys.argv[1]) as requests:
    for line in requests:
        raw = bytes.fromhex(line)
        print(by_h11(raw), by_httptools(raw), sep="\t")
