import type { Clock } from "../../base/clock.ts";
import type { Problem } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { OAuth2Request } from "../../http/oauth.ts";
import { credentialOf, SecretFailure } from "../../http/secrets.ts";
import { oauth2Reader } from "../../http/token-sources.ts";
import { TokenFailure } from "../../http/token.ts";
import { createTokenProvider } from "../../http/tokens.ts";
import { sourceProblem } from "../problems.ts";
import type { AuthSettings } from "./auth-settings.ts";
import type { Credentials, Shown } from "./shown.ts";

interface CredentialDeps {
  clock: Clock;
  secrets: (ref: string) => Promise<string> | string;
  known: KnownSecrets;
  /** What the problems call the source. */
  source: string;
  connectTimeoutMs: number;
  /** Longest time for a token request. */
  timeoutMs: number;
}

type HeaderAuth = Exclude<AuthSettings, { kind: "oauth2" | "session" }>;
type Carried = Pick<Shown, "headers" | "parameters">;

/**
 * Credentials from the settings. Secrets are read at the first request and kept until one is refused; one reading is
 * shared by all callers.
 */
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
      return { headers: {}, parameters: {} };
    case "bearer": {
      const token = await secretOf(auth.token, deps);
      return { headers: { authorization: `Bearer ${token}` }, parameters: {} };
    }
    case "basic": {
      const password = await secretOf(auth.password, deps);
      const pair = Buffer.from(`${auth.user}:${password}`, "utf8").toString("base64");
      return { headers: { authorization: `Basic ${pair}` }, parameters: {} };
    }
    case "apiKey": {
      const key = await secretOf(auth.key, deps);
      if (auth.header !== undefined)
        return { headers: { [auth.header.toLowerCase()]: `${auth.prefix}${key}` }, parameters: {} };
      return { headers: {}, parameters: auth.query === undefined ? {} : { [auth.query]: key } };
    }
  }
}

/** A secret as it is sent. Throws a Problem where there is none. */
export async function secretOf(ref: string, deps: Pick<CredentialDeps, "secrets" | "source">): Promise<string> {
  let secret: string;
  try {
    secret = credentialOf(await deps.secrets(ref));
  } catch (thrown) {
    throw noSecret(ref, deps, thrown);
  }
  if (secret === "") throw noSecret(ref, deps, undefined);
  return secret;
}

function noSecret(ref: string, deps: Pick<CredentialDeps, "source">, cause: unknown): Problem {
  const wrong = "source.wrong-password";
  if (ref.startsWith("command:")) {
    const why = cause instanceof SecretFailure ? cause.message : "a command printed nothing";
    const message = `A secret of the source ${deps.source} is missing: ${why}.`;
    return sourceProblem(
      wrong,
      deps.source,
      message,
      "Run that command yourself, as the user that runs crm-sync, to see why.",
      cause,
    );
  }
  return sourceProblem(
    wrong,
    deps.source,
    `The secret ${ref} of the source ${deps.source} is missing.`,
    "Set the environment variable, or write the file.",
    cause,
  );
}

type OAuth2Auth = Extract<AuthSettings, { kind: "oauth2" }>;

function tokenCredentials(auth: OAuth2Auth, deps: CredentialDeps): Credentials {
  const request: OAuth2Request = {
    ...auth,
    username: auth.user,
    connectTimeoutMs: deps.connectTimeoutMs,
    timeoutMs: deps.timeoutMs,
  };
  // Sources have no setting for it: a token is renewed when nine tenths of its life are over.
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
        parameters: {},
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
      return noSecret(reason.reference, deps, failure.cause);
    case "refused": {
      const code = reason.code === undefined ? "" : ` (${reason.code})`;
      const said = reason.said === undefined ? "" : `: ${reason.said.replace(/\.$/u, "")}`;
      const otherWay = auth.clientAuth === "basic" ? "body" : "basic";
      return sourceProblem(
        "source.wrong-password",
        place,
        `${who} refused our credentials with HTTP ${reason.status}${code}${said}.`,
        `Correct the client id, secret, user and password in \`auth\`, or set \`clientAuth: ${otherWay}\`.`,
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
