import { describe, expect, it } from "vitest";
import { isListed } from "../../src/config/access-settings.ts";
import { roleOnLoopback, serveSettingsSchema } from "../../src/config/serve.ts";
import { good, load, refusals } from "./small-config.ts";

const proxy = "{ header: X-Remote-User, from: [10.0.0.1] }";
const oidc = "{ issuer: https://login.example.com, clientId: c, roles: { a: see } }";

describe("who may come in", () => {
  it.each([
    [
      "host: 0.0.0.0",
      /`serve\.host` is the text "0\.0\.0\.0": others than this machine reach it, and nobody could sign in/u,
    ],
    ['host: "::"', /nobody could sign in/u],
    ["host: crm.internal", /nobody could sign in/u],
    ["host: 127.0.0.1.example.com", /nobody could sign in/u],
    [`access: { oidc: ${oidc} }`, /`serve\.access\.oidc`.* set `serve\.publicUrl`/u],
    [`publicUrl: http://crm.example.com\n  access: { oidc: ${oidc} }`, /plain http; use https/u],
    ["access: { oidc: { issuer: http://login.example.com, clientId: c, roles: {} } }", /must be https/u],
    ["access: { proxy: { header: X-User, from: [10.0.0.0/33] } }", /expected|is expected/u],
    ["access: { proxy: { header: X-User, from: [crm.example.com] } }", /an address such as 10\.0\.0\.7/u],
    ["access: { proxy: { header: X-User, from: [] } }", /at least 1/u],
    ["access: { sessions: { idle: 2h, longest: 1h } }", /must not be longer/u],
    ["access: { proxy: { header: X-User, from: [10.0.0.1], roles: { anna: admin } } }", /one of see, report, decide/u],
  ])("is refused, with its place and what to do, where it is %j", async (serve, said) => {
    const [first = "", ...more] = await refusals(`${good}serve:\n  ${serve}\n`);
    expect(first).toMatch(said);
    expect(first).toMatch(/^\d+:\d+ config\./u);
    expect(more).toEqual([]);
  });

  it.each([
    "host: 127.0.0.2",
    'host: "::1"',
    "host: localhost",
    "host: 0.0.0.0\n  pages: false",
    `host: 0.0.0.0\n  access: { proxy: ${proxy} }`,
    `host: 0.0.0.0\n  publicUrl: https://crm.example.com\n  access: { oidc: ${oidc} }`,
    `host: 0.0.0.0\n  tls: { certificate: a, key: b }\n  access: { proxy: ${proxy} }`,
    `access: { proxy: ${proxy} }`,
  ])("may be %j", async (serve) => {
    expect((await load(`${good}serve:\n  ${serve}\n`)).result.ok).toBe(true);
  });
});

it("is nobody without signing in where people are meant to come from outside, unless it is said", () => {
  const of = (given: unknown) => roleOnLoopback(serveSettingsSchema.parse(given));
  expect(of({})).toBe("see");
  expect(of({ publicUrl: "http://localhost:8787" })).toBe("see");
  expect(of({ publicUrl: "https://crm.example.com" })).toBe("none");
  expect(of({ access: { proxy: { header: "X", from: ["127.0.0.1"] } } })).toBe("none");
  expect(of({ publicUrl: "https://crm.example.com", access: { loopback: "see" } })).toBe("see");
});

it.each([
  ["10.0.0.7", true],
  ["::ffff:10.0.0.7", true],
  ["10.1.0.7", false],
  ["192.168.1.1", true],
  ["192.168.1.11", false],
  ["fd00::1234", true],
  ["fe80::1%eth0", false],
  ["", false],
  ["10.0.0.7, 192.168.1.1", false],
])("finds %s in a list of networks: %s", (address, expected) => {
  expect(isListed(address, ["10.0.0.0/24", "192.168.1.1", "fd00::/8"])).toBe(expected);
});
