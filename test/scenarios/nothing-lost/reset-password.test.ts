import { request as send } from "undici";
import { expect, it } from "vitest";
import { unsettled } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { dated, startServer } from "../../support/http-server.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";

/** Two customers with a few people, and the passwords that M3 was sent, oldest first. */
async function synchronised(): Promise<{ w: World; sent: string[] }> {
  const w = await world();
  const sent: string[] = [];
  const { url } = w.sandbox;
  const recorder = await startServer(({ method, headers, body }, response, { url: path = "" }) => {
    if (path.includes("/resetPassword")) sent.push(JSON.parse(body).password);
    const { "content-type": type, "content-length": _, "transfer-encoding": __, connection: ___, ...others } = headers;
    const passed = { ...others, ...(type === undefined ? {} : { "content-type": type }) };
    send(url + path, { method: method as "GET", headers: passed, body: body === "" ? null : body }).then(
      async (reply) => response.writeHead(reply.statusCode, dated(reply.headers)).end(await reply.body.text()),
      () => response.destroy(),
    );
  });
  Object.assign(w.sandbox, { url: recorder });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return { w, sent };
}

const reset = ["staff", "reset-password", "S1-1", "--reason", "lost the letter", "--by", "anna"];

/** Hands a password out: the exit code, and what was printed. */
async function handsOut(w: World, id: string): Promise<[exitCode: number | null, password: string]> {
  const { exitCode, stdout } = await w.run("staff", "password", id);
  return [exitCode, stdout.trim()];
}

it("sets a new password for one person by one M3, and hands it out once", async () => {
  const { w, sent } = await synchronised();
  expect(outcome(await w.does(...reset, "--dry-run"))).toEqual([0, {}]);
  expect(outcome(await w.does(...reset))).toEqual([0, { M3: 1 }]);
  expect(await handsOut(w, "S1-1")).toEqual([0, sent[0]]);
  expect(await handsOut(w, "S1-1")).toEqual([64, ""]);
  expect((await handsOut(w, "S1-2"))[0], "the first password of somebody else is still there").toBe(0);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
});

it("hands out only the last of two passwords", { tags: "long" }, async () => {
  const { w, sent } = await synchronised();
  for (const _ of [1, 2]) expect(outcome(await w.does(...reset))).toEqual([0, { M3: 1 }]);
  expect(sent[0]).not.toBe(sent[1]);
  expect(await handsOut(w, "S1-1")).toEqual([0, sent[1]]);
  expect((await handsOut(w, "S1-1"))[0]).toBe(64);
});

it.each([
  ["appliedNoReply", "--applied"],
  ["resetBefore", "--not-applied"],
] as const)(
  "never sends a reset again when the reply is lost (%s): a person says %s, and nobody else waits",
  { tags: "long" },
  async (fault, verdict) => {
    const { w, sent } = await synchronised();
    w.sandbox.faults.add({ operation: "M3", fault, times: 1 });
    expect(outcome(await w.does(...reset))).toEqual([5, { M3: 1 }]);
    for (const words of ["run everything", "resync --customer C1"])
      expect(outcome(await w.does(...words.split(" ")))).toEqual([5, {}]);
    expect(await handsOut(w, "S1-1")).toEqual([64, ""]);
    personOf(w, "S2-1").name = `${canary.person} new`;
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({ M2: 1 });
    const [open] = await unsettled(w);
    w.later(1);
    expect(outcome(await w.does("settle", open.id, verdict, "--reason", "asked the person"))).toEqual([0, {}]);
    const [exitCode, password] = await handsOut(w, "S1-1");
    expect([exitCode, password === sent[0]], "or the first one").toEqual([0, verdict === "--applied"]);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "hands out the first password while the service refuses a new one, until a person withdraws",
  { tags: "long" },
  async () => {
    const { w, sent } = await synchronised();
    w.sandbox.faults.add({ operation: "M3", fault: "status299", code: "50003", times: 1 });
    expect(outcome(await w.does(...reset))).toEqual([3, { M3: 1 }]);
    const [exitCode, first] = await handsOut(w, "S1-1");
    expect([exitCode, first === "", first === sent[0]]).toEqual([0, false, false]);
    expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
    expect((await w.run(...reset, "--withdraw")).exitCode).toBe(0);
    expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  },
);

it(
  "sets no password of somebody without an account, or whose account M5 does not show as theirs",
  { tags: "long" },
  async () => {
    const { w } = await synchronised();
    const of = (id: string) => w.does("staff", "reset-password", id, "--reason", "a test");
    expect(outcome(await of("S9"))).toEqual([64, {}]);
    const shown = (await membersOf(w, "C1")).get(`${canary.login}1x1`);
    w.sandbox.hand({ action: "delete-person", memberGlobalId: shown?.globalId ?? "" });
    expect(outcome(await of("S1-1"))).toEqual([64, {}]);
    w.sandbox.faults.add({ operation: "M5", fault: "oddField", field: "userName", value: "anotherE00001" });
    expect(outcome(await of("S1-2"))).toEqual([64, {}]);
    w.sandbox.faults.clear();
    expect(outcome(await w.does("run", "everything"))[1], "nothing was asked for").not.toHaveProperty("M3");
  },
);
