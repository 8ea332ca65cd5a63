import { expect, it } from "vitest";
import { hiddenSecret, KnownSecrets } from "../../src/base/known-secrets.ts";
import { spellings } from "../support/secret-spellings.ts";

const secrets = [
  "sk_live_51Hq9ZxT7uVwA2",
  "p@ss wörd!42%x",
  'a<b>c-9f8e7d\\n"q',
  "!!$$%%&&密码安全口令",
  "geheim-Schlüssel",
];

function registry(): KnownSecrets {
  const known = new KnownSecrets();
  for (const secret of secrets) known.add(secret);
  return known;
}

it.each(secrets)("finds %j in every spelling", (secret) => {
  const known = registry();
  for (const [name, text] of spellings(secret)) {
    const told = known.words(`The key is (${text}) here`);
    // A sign or a half character of Base64 may be left at its ends.
    expect.soft(told, name).toMatch(/^The key is \(.{0,2}\[secret hidden\].{0,2}\) here$/u);
    expect.soft(known.isIn(`x ${text} y`), name).toBe(true);
  }
});

it.each(secrets.slice(0, 3))("finds the half of %j that a cut left", (secret) => {
  const known = registry();
  const told = `no such key: ${secret.slice(0, Math.ceil(secret.length * 0.7))}`;
  expect(known.words(told)).toMatch(/^no such key: \[secret hidden\].?$/u);
});

it("leaves a record as it is that holds none", () => {
  const known = registry();
  const record = { id: "C1", name: "Smith & Co", list: [1, null, { text: "100% a\\b" }] };
  expect(known.tree(record)).toBe(record);
});

it("replaces a secret in texts, numbers and names of members", () => {
  const known = new KnownSecrets();
  known.add("1234567890");
  expect(known.tree({ a: [1234567890], "x-1234567890": "12345-67890", b: 2 })).toEqual({
    a: [hiddenSecret],
    [`x-${hiddenSecret}`]: hiddenSecret,
    b: 2,
  });
});

it("remembers the newest tokens", () => {
  const known = new KnownSecrets();
  known.add("lasting-secret");
  for (let number = 0; number < 500; number += 1) known.addToken(`token-of-session-${number}-x`);
  expect(known.isIn("token-of-session-499-x")).toBe(true);
  expect(known.isIn("token-of-session-1-x")).toBe(false);
  expect(known.isIn("lasting-secret")).toBe(true);
});

it("remembers a token that goes on being used, however many came since", () => {
  const known = new KnownSecrets();
  known.addToken("token-of-a-long-life");
  for (let number = 0; number < 200; number += 1) {
    known.addToken(`token-of-session-${number}-x`);
    known.addToken("token-of-a-long-life");
  }
  expect(known.isIn("token-of-a-long-life")).toBe(true);
});

it("finds a secret of few Latin letters beside letters that grow in small letters", () => {
  const known = new KnownSecrets();
  known.add("пароль12345");
  expect(known.data("İstanbul İzmir: пароль12345.")).toBe(`İstanbul İzmir: ${hiddenSecret}.`);
  expect(known.data("пароль123456")).toBe(`${hiddenSecret}6`);
});

it("knows a secret of digits from a longer number that holds the same digits", () => {
  const known = new KnownSecrets();
  known.add("20261001");
  known.add("4711");
  expect([known.data("A-14711"), known.data("PIN 4711!")]).toEqual(["A-14711", `PIN ${hiddenSecret}!`]);
  const record = { id: "SO-202610010007", number: 1202610010, of: "20261001-7", "8020261001": ["C.020261001"] };
  expect(known.tree(record)).toEqual({ ...record, of: `${hiddenSecret}-7` });
  for (const text of ["key=20261001&page=2", "at%2020261001", "2026-1001", "pin20261001x", JSON.stringify(20261001)])
    expect.soft(known.words(text), text).toContain(hiddenSecret);
});
