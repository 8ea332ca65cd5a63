import { execFile } from "node:child_process";

import type { Clock } from "../base/clock.ts";
import { readSecret } from "./secrets.ts";
import type { TokenSource } from "./settings.ts";

/** A token as its source gave it. */
export interface TokenReading {
  token: string;
  /** Milliseconds for which it may be used, counted from the asking; absent where the source does not say. */
  lifeMs?: number | undefined;
  /** The scopes that the token endpoint says it has, separated by blanks; absent where it says nothing. */
  scope?: string | undefined;
}

/** Where a token is read from. `read` rejects with any error; its text is not shown. */
export interface TokenReader {
  /** In words, without a secret. */
  place: string;
  refreshAheadMs: number;
  /** True where reading again can give another token: not for the environment, which was read at the start. */
  renewable: boolean;
  read(): Promise<TokenReading>;
}

export interface TokenSourceDependencies {
  clock: Clock;
  /** The environment as it was read at the start. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** How long the content of a file or the output of a command is used without asking again. */
const rereadMs = 60_000;

/** Makes the reader of a configured token source. */
export function readTokenSource(source: TokenSource, dependencies: TokenSourceDependencies): TokenReader {
  if (typeof source === "string") {
    return readTokenSource(
      source.startsWith("env:") ? { env: source.slice(4) } : { file: source.slice("file:".length) },
      dependencies,
    );
  }
  if ("fixed" in source)
    return {
      place: "the configured token",
      refreshAheadMs: 0,
      renewable: false,
      read: async () => ({ token: source.fixed }),
    };
  if ("env" in source) {
    return {
      place: `the environment variable ${source.env}`,
      refreshAheadMs: 0,
      renewable: false,
      read: async () => ({ token: await readSecret(`env:${source.env}`, dependencies.environment) }),
    };
  }
  if ("file" in source) return fileReader(source.file, dependencies);
  if ("command" in source) return commandReader(source.command, source.timeoutMs);
  return {
    place: `the token endpoint ${new URL(source.oauth2.tokenUrl).host}`,
    refreshAheadMs: source.oauth2.refreshAheadMs,
    renewable: true,
    read: async () => {
      // Loaded when it is used: most installations hold their tokens elsewhere.
      const { requestOAuthToken } = await import("./oauth.ts");
      return requestOAuthToken(source.oauth2, dependencies);
    },
  };
}

function fileReader(path: string, dependencies: TokenSourceDependencies): TokenReader {
  return {
    place: `the file ${path}`,
    refreshAheadMs: 0,
    renewable: true,
    read: async () => {
      return { token: await readSecret(`file:${path}`, dependencies.environment), lifeMs: rereadMs };
    },
  };
}

function commandReader(command: readonly string[], timeoutMs: number): TokenReader {
  const [program = "", ...parameters] = command;
  return {
    place: `the command ${program}`,
    refreshAheadMs: 0,
    renewable: true,
    read: () =>
      new Promise((resolve, reject) => {
        execFile(
          program,
          parameters,
          { timeout: timeoutMs, maxBuffer: 65_536, killSignal: "SIGKILL" },
          (error, output) => {
            if (error !== null) reject(error);
            else resolve(parseCommandOutput(output));
          },
        );
      }),
  };
}

function parseCommandOutput(output: string): TokenReading {
  const text = output.trim();
  if (!text.startsWith("{")) return { token: text, lifeMs: rereadMs };
  const answer: unknown = JSON.parse(text);
  if (
    typeof answer !== "object" ||
    answer === null ||
    !("access_token" in answer) ||
    typeof answer.access_token !== "string"
  ) {
    throw new Error("the output holds no access_token");
  }
  const seconds = "expires_in" in answer && typeof answer.expires_in === "number" ? answer.expires_in : undefined;
  const scope = "scope" in answer && typeof answer.scope === "string" ? answer.scope : undefined;
  return { token: answer.access_token, lifeMs: seconds === undefined ? rereadMs : seconds * 1000, scope };
}
