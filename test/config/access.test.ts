import { describe, expect, it } from "vitest";
import { isListed } from "../../src/config/access-settings.ts";
import { good, load, refusals } from "./small-config.ts";

const proxyWith = (more: string): string => `{ header: X-Assertion, issuer: p, audience: a, keys: p.pem${more} }`;
const proxy = proxyWith("");
const ofEveryProgram = /a browser sends its cookies to every program there/u;

describe("who may come in", () => {
  it.each([
    [
      "host: 0.0.0.0",
      /`serve\.host` is the text "0\.0\.0\.0": others than this machine reach it, and nobody could sign in/u,
    ],
    ['host: "::"', /nobody could sign in/u],
    ["host: crm.internal", /nobody could sign in/u],
    ["host: 127.0.0.1.example.com", /nobody could sign in/u],
    ["access: { oidc: { issuer: https://login.example.com } }", /oidc` is not a key/u],
    ["publicUrl: http://crm.example.com", /must be https/u],
    ["publicUrl: crm.example.com", /must be https/u],
    ["publicUrl: https://localhost:8787", ofEveryProgram],
    ["publicUrl: https://127.0.0.1", ofEveryProgram],
    ['publicUrl: "https://[::1]:8787"', ofEveryProgram],
    ["publicUrl: https://crm.localhost", ofEveryProgram],
    ["access: { loopback: see }", /loopback/u],
    [
      "access: { proxy: { header: X-Remote-User, issuer: p, audience: a } }",
      /`serve\.access\.proxy\.keys` is missing/u,
    ],
    [`access: { proxy: ${proxyWith(", algorithms: [HS256]")} }`, /algorithms` is not a key/u],
    [`access: { proxy: ${proxyWith("").replace("p.pem", "http://keys.example/keys")} }`, /must be https, or a file/u],
    [`access: { proxy: ${proxyWith(", from: [10.0.0.0/33]")} }`, /expected|is expected/u],
    [`access: { proxy: ${proxyWith(", from: [crm.example.com]")} }`, /an address such as 10\.0\.0\.7/u],
    [`access: { proxy: ${proxyWith(", from: []")} }`, /at least 1/u],
    ["access: { sessions: { idle: 2h, longest: 1h } }", /must not be longer/u],
    [`access: { proxy: ${proxyWith(", roles: { anna: admin }")} }`, /one of see, report, decide/u],
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
    `host: 0.0.0.0\n  tls: { certificate: a, key: b }\n  access: { proxy: ${proxy} }`,
    `access: { proxy: ${proxy} }`,
  ])("may be %j", async (serve) => {
    expect((await load(`${good}serve:\n  ${serve}\n`)).result.ok).toBe(true);
  });
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
