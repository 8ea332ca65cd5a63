import { describe, expect, it, onTestFinished } from "vitest";
import { company } from "../support/world/crm.ts";
import { document, until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

const openLine = /^circuit +order-service: open since [\d-]+ [\d:]+ UTC \(.+\), because (.+?); (.+)$/mu;

/** What `status`, a process of its own, says of open circuits. */
async function shown(w: World): Promise<{ line: string[] | undefined; text: string; services: unknown }> {
  const { stdout: text } = await w.run("status");
  const services: unknown = document(await w.run("--json", "status")).openCircuits;
  return { line: openLine.exec(text)?.slice(1), text, services };
}

async function runs(w: World, code: number): Promise<void> {
  const ended = await w.run("run", "everything");
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(code);
}

/**
 * A run that has opened the circuit of the order service and waits for the member-center: its process is stopped there,
 * so that it can be looked at.
 */
async function runThatLeavesTheOrderService(w: World) {
  await runs(w, 0);
  const { customers, orders, staff } = company(2, 2);
  const [first] = orders;
  if (first !== undefined) w.orders.push({ ...first, id: "O1b", assets: ["O1b-A1"] });
  w.customers.push(...customers.slice(1));
  w.staff.push(...staff.filter((person) => person.customer === "C1" && !w.staff.some((one) => one.id === person.id)));
  w.write();
  w.sandbox.faults.add({ operation: "M5", fault: "slow", delayMs: 3_000, times: 1 });
  w.sandbox.faults.add({ operation: "E3", fault: "http502", times: 1 });
  const running = w.start("run", "everything");
  await until("the circuit of the order service is open", () => w.rows("select service from open_circuit").length > 0);
  running.child.kill("SIGSTOP");
  onTestFinished(() => void running.child.kill("SIGKILL"));
  return running;
}

function oneCustomer(): ReturnType<typeof company> {
  const { customers, orders, staff } = company(1, 2);
  return { customers, orders, staff: staff.slice(0, 1) };
}

describe("a service that fails", () => {
  it(
    "has an open circuit, which another process shows, and is used again after a probe in the same run",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: oneCustomer() });
      Object.assign(w.environment, {
        CRM_SYNC__orderService__breakerFailures: "1",
        CRM_SYNC__orderService__breakerOpenMs: "500",
      });
      const running = await runThatLeavesTheOrderService(w);
      const { line, text, services } = await shown(w);
      expect(line, text).toEqual([
        "HTTP 502",
        expect.stringMatching(/^(?:a probe at about|the next call is a probe)/u),
      ]);
      expect(text).toMatch(
        /waits for a person\n(?: {2}.*\n)* {2}the circuit of order-service is open since .*\n {2,}→ nothing as long/u,
      );
      expect(services).toEqual([
        { service: "order-service", since: expect.any(String), reason: "HTTP 502", probeAt: expect.any(String) },
      ]);
      running.child.kill("SIGCONT");
      const ended = await running.ended;
      // The customer that met the failure waits for the next run; the one after the probe was served.
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(7);
      expect(w.sandbox.state().orders).toMatchObject({ O1b: { calls: 1 } });
      const after = await shown(w);
      expect(after.line, after.text).toBeUndefined();
      expect(after.services).toEqual([]);
      await runs(w, 0);
    },
  );

  it(
    "is not shown with an open circuit for ever when the process that opened it was killed",
    { tags: "long" },
    async () => {
      const w = await world({ isOnMachineTime: true, records: oneCustomer() });
      Object.assign(w.environment, { CRM_SYNC__orderService__breakerFailures: "1" });
      const running = await runThatLeavesTheOrderService(w);
      const before = await shown(w);
      expect(before.line, before.text).toEqual(["HTTP 502", expect.stringMatching(/^a probe at about/u)]);
      running.child.kill("SIGKILL");
      await running.ended;
      const killed = await shown(w);
      expect(killed.services, "since when is kept").toEqual(before.services);
      w.tamper("update open_circuit set probe_at = '2026-01-01T00:00:00.000Z'");
      expect((await shown(w)).line?.[1]).toMatch(/where the process of the run died, the next run tries it again$/u);
      // The settle time of what the killed run left has to pass.
      await runs(w, 0);
      const after = await shown(w);
      expect(after.line, after.text).toBeUndefined();
    },
  );

  it("stays shown from run to run until it answers, with the time of its first failure, and people are told once", async () => {
    const w = await world({ isOnMachineTime: true, records: oneCustomer() });
    w.extra = "notify: { kind: log }\n";
    w.write();
    Object.assign(w.environment, { CRM_SYNC__orderService__breakerFailures: "2" });
    await w.sandbox.refuseConnections();
    const told: string[] = [];
    const run = async (code: number): Promise<void> => {
      const ended = await w.run("run", "everything");
      expect(ended.exitCode, ended.stdout + ended.stderr).toBe(code);
      told.push(...(ended.stderr.match(/"event":"alert\.\w+","key":"breaker:[\w-]+"/gu) ?? []));
    };
    await run(7);
    const first = await shown(w);
    expect(first.line, first.text).toEqual(["ECONNREFUSED", "the next run tries it again"]);
    await run(7);
    const second = await shown(w);
    const since = (services: unknown): unknown => (services as { since: string }[])[0]?.since;
    expect(since(second.services)).toBe(since(first.services));
    await w.sandbox.acceptConnections();
    await run(0);
    expect((await shown(w)).services).toEqual([]);
    expect(told).toEqual([
      '"event":"alert.started","key":"breaker:order-service"',
      '"event":"alert.ended","key":"breaker:order-service"',
    ]);
  });
});
