-- wrk's side of the admission figures: each request is a new event of the next host, to its two phones.
-- BENCH_BASE and BENCH_HOSTS say which hosts, BENCH_FIRST where event numbers go on, BENCH_DELAY (ms) slows down.
local base = tonumber(os.getenv("BENCH_BASE"))
local hosts = tonumber(os.getenv("BENCH_HOSTS"))
local number = tonumber(os.getenv("BENCH_FIRST"))
local pause = tonumber(os.getenv("BENCH_DELAY") or "0")
local body = '{"v":1,"registrationIds":["r%da","r%db"],"notification":{"notificationId":"n-%d","notificationSeq":%d,'
  .. '"notificationEpoch":"epoch","source":"agent-task-complete","agentState":"finished",'
  .. '"title":"The build is green again","body":"' .. string.rep("x", 120) .. '"}}'

-- All of a request but its length and its body, which alone differ from one to the next of a host.
local heads = {}
for host = 1, hosts do
  local text = tostring(base + host)
  heads[host] = "POST /v1/send HTTP/1.1\r\nHost: push.example\r\nAuthorization: Bearer " .. string.rep("A", 42 - #text) .. text
    .. "A\r\nContent-Type: application/json\r\nContent-Length: "
end

if pause > 0 then
  function delay() return pause end
end

function request()
  number = number + 1
  local host = number % hosts + 1
  local text = string.format(body, base + host, base + host, number, number)
  return heads[host] .. #text .. "\r\n\r\n" .. text
end

function done(summary, latency)
  io.write(string.format('BENCH {"requests":%d,"microseconds":%d,"failed":%d,"p50":%d,"p99":%d}\n', summary.requests,
    summary.duration, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status
    + summary.errors.timeout, latency:percentile(50), latency:percentile(99)))
end
