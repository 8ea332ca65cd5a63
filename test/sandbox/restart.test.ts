import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import { clockAt } from "../support/guarded.ts";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { bundled } from "../support/bundle.ts";
import { batch, newBuy } from "./bodies.ts";
import { addStaff, assetIds, callerOf, contentsOf, createEnterprise, started, type Parsed } from "./caller.ts";

async function stateFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "state.sqlite");
}

/** The sandbox as a process of its own. */
async function spawned(...options: string[]) {
  const words = [bundled(), "sandbox", "--json", "--port", "0", ...options];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, "line");
  const { url, port } = JSON.parse(line);
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(child, "exit");
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  return { url: String(url), port: Number(port), end };
}

test("a state in a file outlives SIGKILL of the sandbox, effects and tokens too", { tags: "long" }, async () => {
  const store = await stateFile();
  const first = await spawned("--store", store);
  const before = callerOf(first.url);
  const enterprise = await createEnterprise(before);
  await before.placeOrders(batch("O1", [newBuy(enterprise)]));
  const staff = await addStaff(before, enterprise, "ann");
  await before.order("POST", "/shellnums", { size: 5 });
  const grant = "grant_type=client_credentials&client_id=sandbox-app&client_secret=sandbox-secret";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const given = await request(`${first.url}/oauth/token`, { method: "POST", headers, body: grant });
  const token: Parsed = await given.body.json();
  const state = (await before.control("GET", "state")).data;
  await first.end("SIGKILL");

  const second = await spawned("--store", store);
  const after = callerOf(second.url);
  expect((await after.control("GET", "state")).data).toEqual(state);
  expect((await after.control("GET", "counts")).data).toMatchObject({
    calls: {},
    effects: { E2: 1, E5: 1, M1: 1, E9: 1 },
  });
  expect((await contentsOf(after, enterprise, "A-1")).productInstanceList).toHaveLength(1);
  const authorization = `Bearer ${token.access_token}`;
  const next = await after.order("POST", "/shellnums", { size: 1 }, { headers: { authorization } });
  expect(next.data).toEqual(["8000000006"]);
  const privileges = { deleteAssets: [], addAssets: ["A-1"] };
  expect((await after.member("POST", `/enterprise/member/${staff}/privileges`, privileges)).code).toBe(0);
});

test("a late call is applied although the sandbox was killed in between", { tags: "long" }, async () => {
  const store = await stateFile();
  const fault = JSON.stringify({ operation: "E9", fault: "appliedLate", delayMs: 600_000 });
  const first = await spawned("--store", store, "--fault", fault);
  const caller = callerOf(first.url);
  const lost = caller.order("POST", "/shellnums", { size: 2 }).catch(() => undefined);
  await expect.poll(async () => (await caller.control("GET", "state")).data).toMatchObject({ deferred: 1 });
  await first.end("SIGKILL");
  await lost;
  const later = { ...systemClock, now: () => systemClock.now() + 600_000 };
  const sandbox = await startSandbox({ store, clock: later, random: systemRandomness });
  onTestFinished(() => sandbox.close());
  await expect.poll(() => sandbox.state()).toMatchObject({ shellNumbers: 2, deferred: 0 });
  expect(sandbox.counts().effects).toEqual({ E9: 1 });
});

test("SIGTERM ends the process with 0, also while a call is held", { tags: "long" }, async () => {
  const { url, end } = await spawned(
    "--latency",
    "0",
    "--fault",
    JSON.stringify({ operation: "E9", fault: "silence" }),
  );
  const held = callerOf(url)
    .order("POST", "/shellnums", { size: 1 })
    .then(
      () => "answered",
      () => "lost",
    );
  await expect.poll(async () => (await callerOf(url).control("GET", "counts")).data.calls).toEqual({ E9: 1 });
  expect(await end("SIGTERM")).toBe(0);
  expect(await held).toBe("lost");
});

test("a caller that is killed after its request was written leaves the effect behind", { tags: "long" }, async () => {
  const clock = clockAt(0);
  const { sandbox } = await started({ clock, latencyMs: 100 });
  const script = `fetch("${sandbox.url}/order/api/order/v1/shellnums?g_nonce=n", { method: "POST", body: '{"size":1}',
    headers: { authorization: "Bearer sandbox-app-token", "content-type": "application/json" } })`;
  const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
  await expect.poll(() => sandbox.counts().calls, { interval: 2 }).toEqual({ E9: 1 });
  child.kill("SIGKILL");
  await expect
    .poll(() => {
      clock.move(100);
      return sandbox.state().shellNumbers;
    })
    .toBe(1);
});

test("a request that breaks off in the middle is no call that is applied", async () => {
  const { sandbox } = await started();
  const { connect } = await import("node:net");
  const socket = connect(sandbox.port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    "POST /order/api/order/v1/shellnums?g_nonce=n HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sandbox-app-token\r\n" +
      'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"size":',
  );
  await expect.poll(() => sandbox.counts().calls).toEqual({ E9: 1 });
  socket.destroy();
  const caller = callerOf(sandbox.url);
  expect((await caller.order("POST", "/shellnums", { size: 1 })).data).toEqual(["8000000001"]);
});

test("a port that is taken is a problem with a cure", async () => {
  const { sandbox } = await started();
  const second = startSandbox({ store: ":memory:", clock: systemClock, random: systemRandomness, port: sandbox.port });
  await expect(second).rejects.toMatchObject({ name: "Problem", code: "sandbox.port", cure: expect.any(String) });
});

test("a state file that another sandbox has, or that is none, is a problem with a cure", { tags: "long" }, async () => {
  const store = await stateFile();
  const { sandbox } = await started({ store });
  expect(sandbox.state().enterprises).toBe(0);
  const options = { clock: systemClock, random: systemRandomness };
  await expect(startSandbox({ ...options, store })).rejects.toMatchObject({ name: "Problem", code: "sandbox.store" });
  await writeFile(`${store}.txt`, "no database ".repeat(100));
  await expect(startSandbox({ ...options, store: `${store}.txt` })).rejects.toMatchObject({ code: "sandbox.store" });
});

test("two sandboxes in memory know nothing of each other", async () => {
  const first = await started();
  const second = await started();
  const enterprise = await createEnterprise(first);
  expect(second.sandbox.state().enterprises).toBe(0);
  expect(await assetIds(first, enterprise)).toEqual({});
});
