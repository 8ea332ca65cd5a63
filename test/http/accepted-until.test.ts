import { expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { endpoints } from "../../src/contract/endpoints.ts";
import { createHeaderWriter } from "../../src/http/headers.ts";
import type { TokenSource } from "../../src/http/http-settings.ts";

/** A program that prints a token with its life. */
const lasts = (seconds: number): TokenSource => ({
  command: ["echo", JSON.stringify({ access_token: `t${seconds}`, expires_in: seconds })],
  environment: [],
  timeoutMs: 15_000,
});

/** Time that passes by this much after the tokens were asked for. */
const passed = 5_000;

it.each<
  [string, { authorization: TokenSource; clientToken?: TokenSource; userToken: TokenSource }, number | undefined]
>([
  ["the end of the last of them", { authorization: lasts(60), userToken: lasts(600) }, 600],
  ["the end of the last of three", { authorization: lasts(60), clientToken: lasts(900), userToken: lasts(600) }, 900],
  ["no known end where one has none", { authorization: lasts(60), userToken: { fixed: "endless" } }, undefined],
  [
    "no known end where a program prints a token alone, which is asked for again",
    { authorization: { command: ["echo", "t"], environment: [], timeoutMs: 15_000 }, userToken: lasts(60) },
    undefined,
  ],
  ["no known end where it is later than any date", { authorization: lasts(1e13), userToken: lasts(60) }, undefined],
])("a request may be accepted until %s", async (_, tokens, seconds) => {
  let now = Date.UTC(2026, 9, 1);
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const began = now;
  const writer = createHeaderWriter(
    "member-center",
    { userTokens: {}, ...tokens },
    { clock, environment: {}, known: new KnownSecrets() },
  );
  const signed = await writer.write(endpoints.M4, undefined, undefined);
  now += passed;
  expect(signed.acceptedUntil()).toBe(seconds === undefined ? undefined : began + seconds * 1000);
});
