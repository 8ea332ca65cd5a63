import { expect, it } from "vitest";
import { document, world } from "../../support/cli.ts";
import { startServer } from "../../support/http-server.ts";
import { startMailServer } from "../../support/mail-server.ts";

it("sends a test message by each channel, says what each answered, and fails if one failed", async () => {
  let answer = 200;
  const got: string[] = [];
  const url = await startServer(({ path, body }, response) => {
    got.push(`${path} ${/"event":"(\w+)"/u.exec(body)?.[1] ?? ""}`);
    response.writeHead(path === "/on-call" ? answer : 200).end();
  });
  const mail = await startMailServer();
  const w = await world();
  w.extra = `mail: { host: 127.0.0.1, port: ${mail.port}, tls: none, from: crm-sync@example.com }
alerts:
  channels: [{ kind: webhook, url: "${url}/hook" }, { kind: mail, to: [ops@example.com] }, { kind: webhook, name: on-call, url: "${url}/on-call" }]
`;
  w.write();
  const good = await w.run("--json", "alerts", "test");
  expect(good.exitCode).toBe(0);
  expect(got).toEqual(["/hook test", "/on-call test"]);
  expect(mail.received).toHaveLength(1);

  answer = 404;
  const failing = await w.run("--json", "alerts", "test");
  expect(failing.exitCode).toBe(1);
  expect(document(failing).channels).toMatchObject([
    { channel: "log", problem: null },
    { channel: "webhook", problem: null },
    { channel: "mail", problem: null },
    { channel: "on-call", kind: "webhook", problem: expect.stringContaining("404") },
  ]);
  expect((await w.run("alerts", "test", "webhook")).exitCode).toBe(0);
  expect(got.filter((one) => one.startsWith("/on-call"))).toHaveLength(2);
  expect((await w.run("alerts", "test", "pager")).exitCode).toBe(64);
});

it("channels and switches that do not fit together are all refused at once, and no secret is repeated", async () => {
  const w = await world();
  w.environment["PING_URL"] = "https://ping.example.com";
  const problemsOf = async (alerts: string): Promise<number> => {
    w.extra = `alerts: ${alerts}\n`;
    w.write();
    const ended = await w.run("--json", "check");
    expect(ended.exitCode).toBe(78);
    expect(ended.stdout + ended.stderr).not.toContain("chat-secret");
    return document(ended).problems.length;
  };
  const ping = "name: ping, url: env:PING_URL";
  const doubled = `channels: [{ kind: webhook, name: a, url: "http://127.0.0.1:1" }, { kind: webhook, name: a, url: "http://127.0.0.1:1" }], deadMansSwitches: [{ ${ping} }, { ${ping} }]`;
  expect(await problemsOf(`{ ${doubled} }`)).toBe(2);
  expect(await problemsOf("{ channels: [{ kind: mail, to: [b@example.com] }] }")).toBe(1);
  expect(await problemsOf(`{ deadMansSwitches: [{ ${ping}, jobs: [no-such-job] }] }`)).toBe(1);
  expect(await problemsOf("{ deadMansSwitches: [{ url: https://hooks.example.com/T0/chat-secret }] }")).toBe(1);
});
