import { describe, expect, it } from "vitest";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import type { Asked } from "../support/http-server.ts";
import { customersOver, ids, patientClock, people } from "./http-source.ts";
import { startService, type Answer, type Service } from "./http-service.ts";
import { customerMapping, openSource, readAll } from "./support.ts";

const all = people(0, 6);
const allIds = all.map(({ id }) => id);
const password = "hunter2-of-crm";
const secrets = (): string => password;

/** A service with a log-in, each of whose sessions is good for so many pages. */
function serviceWithSessions(pagesEach: number, over: (asked: Asked) => Answer): Promise<Service & { logins: number }> {
  let left = 0;
  let logins = 0;
  const service = startService((asked) => {
    if (asked.path.endsWith("/login")) {
      logins += 1;
      left = pagesEach;
      const isRight = (JSON.parse(asked.body) as { password: string }).password === password;
      if (!isRight) return { body: { result: false } };
      return { body: { result: { token: `session-${logins}`, uid: 7 } } };
    }
    const page = Number(asked.query["page"]);
    left -= 1;
    const isKnown = asked.headers["x-session"] === `session-${logins}` && left >= 0;
    return isKnown ? { body: all.slice((page - 1) * 2, page * 2) } : over(asked);
  });
  return service.then((one) => ({
    ...one,
    get logins() {
      return logins;
    },
  }));
}

const session = {
  kind: "session",
  secrets: { password: "env:CRM_PASSWORD" },
  login: { url: "login", body: { login: "sync", password: "{password}" } },
  take: { token: { at: "result.token" } },
  put: [{ parameter: "X-Session", value: "{token}" }],
};
const paged = { paging: { kind: "page", moving: "trust" } };
const expired = { errors: { at: "error", code: "error.code", message: "error.message", expired: [100] } };

describe("a log-in whose answer gives a session", () => {
  it.each<[string, Answer]>([
    ["HTTP 401", { status: 401 }],
    ["an error inside HTTP 200", { body: { error: { code: 100, message: "Session Expired" } } }],
  ])(
    "is made again when the session ends in the middle with %s, and nothing is lost or read twice",
    async (_, over) => {
      const service = await serviceWithSessions(3, () => over);
      const source = customersOver(service.origin, { ...paged, ...expired }, { auth: session }, { secrets });
      const reading = await readAll(source, "customers");
      expect(ids(reading)).toEqual(allIds);
      expect(reading.outcome).toMatchObject({ complete: true, rows: 6 });
      expect(service.logins).toBe(2);
    },
  );

  it.each<[string, Answer]>([
    ["HTTP 401", { status: 401 }],
    ["an error inside HTTP 200", { body: { error: { code: 100, message: "Session Expired" } } }],
  ])("is made twice and no more where every session is refused with %s, by however many readers", async (_, over) => {
    const service = await serviceWithSessions(0, () => over);
    const source = customersOver(service.origin, { ...paged, ...expired }, { auth: session }, { secrets });
    for (let reading = 0; reading < 5; reading += 1) {
      const { outcome } = await readAll(source, "customers");
      expect(outcome).toMatchObject({ complete: false, rows: 0, problem: { code: "source.wrong-password" } });
    }
    expect(service.logins).toBe(2);
  });

  it("is shared by all who read at the same time", async () => {
    const service = await serviceWithSessions(1_000, () => ({ status: 401 }));
    const one = { url: "customers", mapping: customerMapping, paging: { kind: "page" } };
    const staff = { id: "id", customerId: "id", userName: "id", name: "name" };
    const settings = {
      kind: "http",
      baseUrl: service.origin,
      auth: session,
      streams: { customers: one, staff: { ...one, mapping: staff } },
    };
    const source = openSource(settings, ".", { secrets });
    const readings = await Promise.all(
      [1, 2, 3].flatMap(() => [readAll(source, "customers"), readAll(source, "staff")]),
    );
    expect(readings.map(({ outcome }) => outcome.complete)).toEqual([true, true, true, true, true, true]);
    expect(service.logins).toBe(1);
  });

  it("is not made again and again with a wrong password, and says what is wrong without it", async () => {
    const service = await serviceWithSessions(9, () => ({ status: 401 }));
    const clock = patientClock();
    const deps = { secrets: () => "wrong-password", clock };
    const source = customersOver(service.origin, paged, { auth: session }, deps);
    for (let reading = 0; reading < 3; reading += 1) {
      const { outcome } = await readAll(source, "customers");
      expect(outcome.problem?.message).toContain("without a session at result.token");
    }
    expect(service.logins).toBe(1);
    clock.time += 60_000;
    await readAll(source, "customers");
    expect(service.logins).toBe(2);
  });

  it("that is refused is told in the words of the service, without the secret that they repeat", async () => {
    const words = `No user sync with ${password}, ask ann@example.com`;
    for (const answer of [
      { status: 403, body: { error: { message: words } } },
      { body: { error: { message: words } } },
    ]) {
      const service = await startService(() => answer);
      const { outcome } = await readAll(customersOver(service.origin, {}, { auth: session }, { secrets }), "customers");
      const said = `${outcome.problem?.message} ${outcome.problem?.place} ${outcome.problem?.cure}`;
      expect(said).toContain("No user … with [secret hidden]");
      expect(said).not.toContain(password);
      expect(service.asked).toHaveLength(1);
    }
  });

  it("shows a cookie, a value in base64 behind a prefix, and values inside the body of each request", async () => {
    const service = await startService(({ path }) =>
      path.endsWith("/login")
        ? { headers: { "set-cookie": "session_id=abc123; Path=/; HttpOnly" }, body: { result: [7, "key-of-session"] } }
        : { body: { result: all } },
    );
    const auth = {
      kind: "session",
      secrets: { password: "env:CRM_PASSWORD" },
      login: { url: "login", bodyAs: "form", body: { user: "sync", password: "{password}" } },
      take: { cookie: { in: "cookie", at: "session_id" }, user: { at: "result[0]" }, key: { at: "result[1]" } },
      put: [
        { parameter: "Cookie", value: "session_id={cookie}" },
        { parameter: "Authorization", value: "sync:{user}:{key}", base64: true, prefix: "Session " },
        { in: "body", parameter: "params.args[1]", value: "{user}" },
        { in: "body", parameter: "params.args[2]", value: "{password}" },
      ],
    };
    const stream = { method: "POST", body: { params: { args: ["sales"] } }, records: "result" };
    const source = customersOver(service.origin, stream, { auth }, { secrets });
    expect((await readAll(source, "customers")).outcome.complete).toBe(true);
    const [login, read] = service.asked;
    expect(login?.body).toBe(`user=sync&password=${password}`);
    expect(read?.headers).toMatchObject({
      cookie: "session_id=abc123",
      authorization: `Session ${Buffer.from("sync:7:key-of-session").toString("base64")}`,
    });
    expect(JSON.parse(read?.body ?? "")).toEqual({ params: { args: ["sales", 7, password] } });
  });

  it("that gives a session with a line end in it is refused, since it would begin another header", async () => {
    const service = await startService(() => ({ body: { result: { token: "a\r\nX-Admin: 1" } } }));
    const { outcome } = await readAll(customersOver(service.origin, {}, { auth: session }, { secrets }), "customers");
    expect(outcome.complete).toBe(false);
    expect(service.asked).toHaveLength(1);
  });

  it("is not sent over plain http to another machine, and shows only what it took", () => {
    const customers = { url: "https://crm.example.com/c", mapping: customerMapping };
    const issuesOf = (auth: object): string => {
      const parsed = sourceSettingsSchema.safeParse({ kind: "http", auth, streams: { customers } });
      return parsed.success ? "" : JSON.stringify(parsed.error.issues);
    };
    expect(issuesOf({ ...session, login: { url: "http://crm.example.com/login" } })).toContain("must be https");
    expect(issuesOf({ ...session, put: [{ parameter: "X", value: "{other}" }] })).toContain("{other} is neither in");
    expect(issuesOf({ ...session, put: [{ in: "body", parameter: "x", value: "{token}" }] })).toContain("found GET");
  });
});

describe("two sources of which one is down", () => {
  it("do not keep each other from being read", async () => {
    const service = await startService(() => ({ body: all }));
    const down = customersOver("http://127.0.0.1:9", {}, { auth: session, retries: 0 }, { secrets });
    const [first, second] = await Promise.all([
      readAll(down, "customers"),
      readAll(customersOver(service.origin, {}), "customers"),
    ]);
    expect(first.outcome.problem?.message).toContain("log-in of the source crm cannot be reached");
    expect(second.outcome).toMatchObject({ complete: true, rows: 6 });
  });
});
