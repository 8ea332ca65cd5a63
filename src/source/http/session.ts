import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { abortable } from "../../http/abortable.ts";
import { sourceProblem } from "../problems.ts";
import type { AuthSettings } from "./auth-settings.ts";
import { secretOf } from "./credentials.ts";
import { addressOf } from "./http-source-settings.ts";
import { valueIn } from "./path-of.ts";
import type { Placement } from "./placement.ts";
import type { PageAnswer, RequestDeps, PageRequest } from "./request.ts";
import { shownUrl, requestPage } from "./request.ts";
import { noCredentials } from "./shown.ts";
import type { Credentials } from "./shown.ts";
import { AnswerComplaint, complaintIn } from "./answer/complaint.ts";
import { readJson } from "./answer/json.ts";

type SessionAuth = Extract<AuthSettings, { kind: "session" }>;

interface SessionDeps extends Omit<RequestDeps, "credentials" | "who"> {
  secrets: (ref: string) => Promise<string> | string;
  /** What the problems call the source. */
  source: string;
  baseUrl: string | undefined;
}

/** After a session that was refused as soon as it began, or a log-in that failed, nobody logs in for this long. */
const restMs = 30_000;

type Values = ReadonlyMap<string, string | number>;

interface Session {
  placed: Placement[];
  /** What the service gave and records do not hold. */
  tokens: string[];
}

/**
 * Credentials from a log-in. It is made at the first request, its session shared by all callers, and made once more
 * when the service refuses the session. One that refuses a new session too is not logged in to again for a while, so
 * that no account is locked by our asking.
 */
export function createSession(auth: SessionAuth, deps: SessionDeps): Credentials {
  let held: Promise<Session> | undefined;
  let refusedInRow = 0;
  let resting: { problem: Problem; until: number } | undefined;
  const rest = (problem: Problem): void => {
    resting = { problem, until: deps.clock.monotonic() + restMs };
  };
  const begin = (): Promise<Session> => {
    const login = logIn(auth, deps);
    login.catch((thrown: unknown) => {
      if (held === login) held = undefined;
      if (thrown instanceof Problem) rest(thrown);
    });
    return login;
  };
  return {
    async show(signal) {
      signal?.throwIfAborted();
      if (held === undefined && resting !== undefined && resting.until > deps.clock.monotonic()) throw resting.problem;
      const session = (held ??= begin());
      const { placed, tokens } = await abortable(session, signal);
      for (const token of tokens) deps.known.addToken(token);
      return {
        headers: {},
        parameters: {},
        placed,
        refused() {
          if (held !== session) return;
          held = undefined;
          refusedInRow += 1;
          if (refusedInRow > 1) rest(refusedAgain(auth, deps));
        },
        accepted() {
          if (held === session) refusedInRow = 0;
        },
      };
    },
  };
}

async function logIn(auth: SessionAuth, deps: SessionDeps): Promise<Session> {
  const secrets = new Map<string, string>();
  for (const [name, ref] of Object.entries(auth.secrets)) secrets.set(name, await secretOf(ref, deps));
  const { login } = auth;
  const url = addressOf(login.url, deps.baseUrl);
  for (const [name, value] of Object.entries(login.query))
    url.searchParams.set(name, filledText(String(value), secrets));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(login.headers)) headers[name.toLowerCase()] = filledText(value, secrets);
  const who = `log-in of the source ${deps.source}`;
  const request = {
    url,
    method: login.method,
    headers,
    body: login.body === undefined ? undefined : filled(login.body, secrets),
    bodyAs: login.bodyAs,
    errors: auth.errors,
  };
  const knownBy: Credentials = { ...noCredentials, renewable: false };
  const { document, answer } = await askJson(request, { ...deps, credentials: knownBy, who }, undefined);
  const values = new Map<string, string | number>(secrets);
  for (const [name, { in: where, at }] of Object.entries(auth.take)) {
    const value =
      where === "body"
        ? valueIn(document, at)
        : where === "header"
          ? answer.headers[at.toLowerCase()]
          : cookieIn(answer, at);
    if ((typeof value !== "string" && typeof value !== "number") || value === "") throw notThere(url, who, where, at);
    values.set(name, value);
  }
  const placed = auth.put.map((put): Placement => {
    const value = filled(put.value, values);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (!put.base64 && put.prefix === "") return { in: put.in, parameter: put.parameter, value };
    const written = put.base64 ? Buffer.from(text, "utf8").toString("base64") : text;
    return { in: put.in, parameter: put.parameter, value: `${put.prefix}${written}` };
  });
  const given = Object.keys(auth.take).map((name) => String(values.get(name) ?? ""));
  return { placed, tokens: given.filter(isToken) };
}

/** Numbers of users, names and addresses are also given for a log-in, and records hold them. */
function isToken(given: string): boolean {
  return given.length >= 8 && !/^\d{8,11}$/u.test(given) && !URL.canParse(given);
}

/** A value with the names in braces replaced. A text that is one name alone becomes the value itself. */
function filled(value: Json, values: Values): Json {
  if (typeof value === "string") {
    const only = /^\{([a-z][A-Za-z0-9]*)\}$/u.exec(value)?.[1];
    return (only === undefined ? undefined : values.get(only)) ?? filledText(value, values);
  }
  if (Array.isArray(value)) return value.map((element) => filled(element, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member ?? null, values)]));
}

function filledText(text: string, values: Values): string {
  return text.replaceAll(/\{([a-z][A-Za-z0-9]*)\}/gu, (whole, name: string) => String(values.get(name) ?? whole));
}

function cookieIn({ cookies }: PageAnswer, name: string): string | undefined {
  for (const cookie of cookies) {
    const [, found, value] = /^\s*([^=;\s]+)\s*=\s*([^;]*)/u.exec(cookie) ?? [];
    if (found === name) return value?.trim();
  }
  return undefined;
}

function notThere(url: URL, who: string, where: "body" | "header" | "cookie", at: string): Problem {
  const place = where === "body" ? `at ${at}` : where === "header" ? `in the header ${at}` : `in the cookie ${at}`;
  return sourceProblem(
    "source.wrong-password",
    shownUrl(url),
    `The ${who} was answered, but without a session ${place}.`,
    "Correct the user and the password, or `auth.take` if the session is in another place of the answer.",
  );
}

function refusedAgain(auth: SessionAuth, deps: SessionDeps): Problem {
  return sourceProblem(
    "source.wrong-password",
    shownUrl(addressOf(auth.login.url, deps.baseUrl)),
    `The source ${deps.source} refuses each new session at its first use.`,
    "Correct `auth.put`, or the rights of its user.",
  );
}

/** Asks for one JSON document, which is no page of a list. Throws a Problem as `requestPage` does. */
function askJson(
  request: PageRequest,
  deps: RequestDeps,
  signal: AbortSignal | undefined,
): Promise<{ document: Json; answer: PageAnswer }> {
  const named = { place: shownUrl(request.url), who: deps.who, known: deps.known };
  return requestPage(
    request,
    deps,
    (answer) => {
      const { document } = readJson(answer, Number.POSITIVE_INFINITY, named);
      const complaint = complaintIn(document, request.errors);
      if (complaint !== undefined) throw new AnswerComplaint(complaint);
      return { document, answer };
    },
    signal,
  );
}
