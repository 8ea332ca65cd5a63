import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { OAuth2Request } from "../../http/oauth.ts";
import { oauth2Reader } from "../../http/token-sources.ts";
import { abortable, createTokenProvider, TokenFailure } from "../../http/tokens.ts";
import { noSecret, secretOf, sourceProblem } from "../problems.ts";
import { AnswerComplaint, complaintIn, readJson } from "./answer.ts";
import type { AuthSettings } from "./auth-settings.ts";
import { addressOf } from "./http-source-settings.ts";
import { valueIn, type Placement } from "./placement.ts";
import { requestPage, shownUrl, type PageAnswer, type PageRequest, type RequestDeps } from "./request.ts";

export interface Shown {
  headers: Readonly<Record<string, string>>;
  /** Further secret values in the request. */
  placed?: readonly Placement[];
  /** The service refused the credentials: the next request reads the secret again or gets a new token. */
  refused(): void;
  accepted(): void;
}

export interface Credentials {
  /** False: a refused request is not retried with new credentials. */
  renewable?: false;
  /** Throws a Problem if a secret or token is missing, or the signal's reason. */
  show(signal: AbortSignal | undefined): Promise<Shown>;
}

const noCredentials: Credentials = {
  show: () => Promise.resolve({ headers: {}, refused: () => undefined, accepted: () => undefined }),
};

interface CredentialDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  known: KnownSecrets;
  source: string;
  connectTimeoutMs: number;
  timeoutMs: number;
}

type HeaderAuth = Exclude<AuthSettings, { kind: "oauth2" | "session" }>;
type Carried = Pick<Shown, "headers">;

/** Secrets are read at the first request and kept until one is refused. All callers share one read. */
export function createCredentials(auth: Exclude<AuthSettings, { kind: "session" }>, deps: CredentialDeps): Credentials {
  return auth.kind === "oauth2" ? tokenCredentials(auth, deps) : secretCredentials(auth, deps);
}

function secretCredentials(auth: HeaderAuth, deps: CredentialDeps): Credentials {
  let held: Promise<Carried> | undefined;
  return {
    async show() {
      const reading = (held ??= carrySecret(auth, deps));
      const drop = (): void => {
        if (held === reading) held = undefined;
      };
      reading.catch(drop);
      return { ...(await reading), refused: drop, accepted: () => undefined };
    },
  };
}

async function carrySecret(auth: HeaderAuth, deps: CredentialDeps): Promise<Carried> {
  switch (auth.kind) {
    case "none":
      return { headers: {} };
    case "bearer": {
      const token = await secretOf(auth.token, deps);
      return { headers: { authorization: `Bearer ${token}` } };
    }
    case "basic": {
      const password = await secretOf(auth.password, deps);
      const pair = Buffer.from(`${auth.user}:${password}`, "utf8").toString("base64");
      return { headers: { authorization: `Basic ${pair}` } };
    }
    case "apiKey": {
      const key = await secretOf(auth.key, deps);
      return { headers: { [auth.header.toLowerCase()]: `${auth.prefix}${key}` } };
    }
  }
}

type OAuth2Auth = Extract<AuthSettings, { kind: "oauth2" }>;

function tokenCredentials(auth: OAuth2Auth, deps: CredentialDeps): Credentials {
  const request: OAuth2Request = {
    ...auth,
    grant: "client_credentials",
    connectTimeoutMs: deps.connectTimeoutMs,
    timeoutMs: deps.timeoutMs,
  };
  // Sources have no setting for renewal: a token is renewed after nine tenths of its life.
  const reader = oauth2Reader(request, deps.secrets);
  const provider = createTokenProvider(reader, deps);
  return {
    async show(signal) {
      let token: string;
      try {
        token = await provider.token(signal);
      } catch (thrown) {
        throw thrown instanceof TokenFailure ? tokenProblem(thrown, auth, deps) : thrown;
      }
      return {
        headers: { authorization: `Bearer ${token}` },
        refused: () => provider.reject(token),
        accepted: () => provider.accepted(),
      };
    },
  };
}

function tokenProblem(failure: TokenFailure, auth: OAuth2Auth, deps: CredentialDeps): Problem {
  const { origin, pathname } = new URL(auth.tokenUrl);
  const place = `${origin}${pathname}`;
  const who = `The token service of the source ${deps.source}`;
  const { reason } = failure;
  switch (reason.kind) {
    case "no-secret":
      return noSecret(reason.reference, deps.source, failure.cause);
    case "refused": {
      const code = reason.code === undefined ? "" : ` (${reason.code})`;
      const said = reason.said === undefined ? "" : `: ${reason.said.replace(/\.$/u, "")}`;
      const otherWay = auth.clientAuth === "basic" ? "body" : "basic";
      return sourceProblem(
        "source.wrong-password",
        place,
        `${who} refused our credentials with HTTP ${reason.status}${code}${said}.`,
        `Correct the client id and secret in \`auth\`, or set \`clientAuth: ${otherWay}\`.`,
      );
    }
    case "no-answer":
      return sourceProblem(
        "source.down",
        place,
        `${who} gave no usable answer.`,
        "Check that the token service can be reached, and that `auth.tokenUrl` is right.",
      );
    case "unusable":
      return sourceProblem(
        "source.wrong-password",
        place,
        `${who} gave no token that can be used: ${failure.message}.`,
        "Correct `auth`, or the rights of its user.",
      );
  }
}

type SessionAuth = Extract<AuthSettings, { kind: "session" }>;

interface SessionDeps extends Omit<RequestDeps, "credentials" | "who"> {
  secrets: (ref: string) => Promise<string> | string;
  source: string;
  baseUrl: string | undefined;
}

/** Pause before the next log-in, after a failed log-in or a new session that was refused at once. */
const restMs = 30_000;

type Values = ReadonlyMap<string, string | number>;

interface Session {
  placed: Placement[];
  /** Secrets that the service issued. Records do not contain them. */
  tokens: string[];
}

/** One log-in for all. A refused session is renewed once, then not for `restMs`, so that no account is locked. */
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

/** A log-in also returns user numbers, names and addresses, which records may contain. They are not secrets. */
function isToken(given: string): boolean {
  return given.length >= 8 && !/^\d{8,11}$/u.test(given) && !URL.canParse(given);
}

/** Replaces names in braces. A text that is only one name becomes the value itself. */
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
