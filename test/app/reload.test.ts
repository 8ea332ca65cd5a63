import { describe, expect, it, onTestFinished } from "vitest";
import { Application } from "../../src/app/application.ts";
import { changedKeys, reload } from "../../src/app/reload.ts";
import type { Reloaded } from "../../src/app/reload.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

async function opened(w: World): Promise<Application> {
  const choice = { config: w.path("crm-sync.yaml"), sandbox: w.sandbox.url };
  const application = await Application.open(choice, w.environment, { log: undefined, progress: () => {} });
  onTestFinished(() => application.close());
  await application.ledger();
  return application;
}

/** What comes of the configuration with these lines at its end. */
async function reloadedWith(w: World, current: Application, extra: string): Promise<Reloaded> {
  w.extra = extra;
  w.write();
  const reloaded = await reload(current);
  if (reloaded.kind === "taken-over") onTestFinished(() => reloaded.application.close());
  return reloaded;
}

const codes = (reloaded: Reloaded): string[] =>
  reloaded.kind === "refused" ? reloaded.problems.map(({ code }) => code) : [reloaded.kind];

const own = "jobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";

describe("a configuration that was written while the program runs", () => {
  it.each([
    ["has a key that is none", `${own}nonsense: 1\n`, ["config.unknown-key"]],
    ["has a job that cannot be", `${own}  x: { kind: report }\n`, ["config.job"]],
    ["is about another address", `${own}serve: { port: 1 }\n`, ["config.needs-restart"]],
    ["has a setting that is of no use", `${own}audit: { signKey: env:SEAL_KEY }\n`, ["config.setting"]],
  ])("is refused as a whole where it %s", async (_what, extra, expected) => {
    const w = await world();
    const current = await opened(w);
    expect(codes(await reloadedWith(w, current, extra))).toEqual(expected);
    // The one before still works, with the ledger that it has open.
    expect(current.jobs().some((job) => job.id === "everything")).toBe(true);
    expect((await current.ledger()).broken).toBeUndefined();
    await current.requirePlatform();
  });

  it("is refused where it is about other services than those of the ledger", async () => {
    const w = await world();
    const current = await opened(w);
    const ledger = await current.ledger();
    await ledger.identity.requirePlatform("https://elsewhere.example");
    expect(codes(await reloadedWith(w, current, own))).toEqual(["ledger.other-platform"]);
  });

  it("is taken over with what is open: the same ledger, and services that are spoken to as before", async () => {
    const w = await world();
    const current = await opened(w);
    const [ledger, platform] = [await current.ledger(), current.platform()];
    const second = await reloadedWith(w, current, `${own}concurrency: { customers: 3 }\n`);
    if (second.kind !== "taken-over") throw new Error(codes(second).join());
    expect(second.changed).toEqual(["concurrency.customers"]);
    expect(await second.application.ledger()).toBe(ledger);
    expect(second.application.platform()).toBe(platform);
    const third = await reloadedWith(w, second.application, `${own}memberCenter: { backoffBaseMs: 20 }\n`);
    if (third.kind !== "taken-over") throw new Error(codes(third).join());
    expect(third.application.platform()).not.toBe(platform);
    expect(await third.application.ledger()).toBe(ledger);
    await current.close();
    await second.application.close();
    expect(ledger.broken).toBeUndefined();
    expect(await ledger.schedule.unfinished("everything")).toEqual([]);
  });
});

it("names the keys that changed, never what stands there, and no deeper than a stream", () => {
  const before = { a: 1, sources: { crm: { streams: { orders: { mapping: { x: "Zqcanary" } } } } }, list: [1] };
  const now = { b: 2, sources: { crm: { streams: { orders: { mapping: { Zqother: 1 } } } } }, list: [1, 2] };
  expect(changedKeys(before, now)).toEqual(["a", "b", "list", "sources.crm.streams.orders"]);
  expect(changedKeys(before, { ...before })).toEqual([]);
});
