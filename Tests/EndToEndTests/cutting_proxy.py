"""A proxy before a Postgres server that cuts a connection between a claim and its answer.

    cutting_proxy.py HOST PORT

Prints the port that it listens on. A line on standard input arms it: the next answer that brings a notification, as a claim's
alone does, is kept back, its connection is cut on both sides, and "cut" is printed.
"""

import asyncio
import sys

armed = asyncio.Event()


async def pump(reader, writer, is_answer):
    try:
        while data := await reader.read(1 << 20):
            if is_answer and armed.is_set() and b"notificationEpoch" in data:
                armed.clear()
                print("cut", flush=True)
                break
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass


async def serve(reader, writer):
    server_reader, server_writer = await asyncio.open_connection(sys.argv[1], int(sys.argv[2]))
    ways = [asyncio.create_task(pump(reader, server_writer, False)),
            asyncio.create_task(pump(server_reader, writer, True))]
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for end in (writer, server_writer):
        end.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        armed.set()
        print("armed", flush=True)


asyncio.run(main())
