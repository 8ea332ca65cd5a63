import { execFile } from "node:child_process";
import type { KnownSecrets } from "../base/known-secrets.ts";
import type { TokenSource } from "./http-settings.ts";
import type { OAuth2Request, SecretResolver } from "./oauth.ts";
import { credentialOf, readSecret, SecretFailure } from "./secrets.ts";
import type { TokenReader, TokenReading } from "./tokens.ts";

export interface TokenSourceDependencies {
  environment: Readonly<Record<string, string | undefined>>;
  known: KnownSecrets;
}

const rereadMs = 60_000;

export function readTokenSource(source: TokenSource, dependencies: TokenSourceDependencies): TokenReader {
  if (typeof source === "string") {
    const isFile = source.startsWith("file:");
    return {
      place: isFile ? `the file ${source.slice(5)}` : `the environment variable ${source.slice(4)}`,
      renewable: isFile,
      // The caller adds the token to `known`.
      read: async () => ({ token: credentialOf(readSecret(source, dependencies)), ...(isFile ? { rereadMs } : {}) }),
    };
  }
  if ("fixed" in source)
    return {
      place: "the configured token",
      renewable: false,
      read: async () => ({ token: source.fixed }),
    };
  if ("command" in source) return commandReader(source, dependencies);
  return oauth2Reader(source.oauth2, (reference) => {
    const read = readSecret(reference, dependencies);
    dependencies.known.add(read);
    return read;
  });
}

export function oauth2Reader(request: OAuth2Request, secret: SecretResolver): TokenReader {
  return {
    place: `the token endpoint ${new URL(request.tokenUrl).host}`,
    renewable: true,
    read: async () => {
      const { requestOAuthToken } = await import("./oauth.ts");
      return requestOAuthToken(request, secret);
    },
  };
}

function commandReader(
  { command, environment: names, timeoutMs }: Extract<TokenSource, { command: unknown }>,
  { environment }: TokenSourceDependencies,
): TokenReader {
  return {
    place: `the command ${command[0] ?? ""}`,
    renewable: true,
    read: async () => parseCommandOutput(await outputOf(command, timeoutMs, environmentOf(names, environment))),
  };
}

function parseCommandOutput(output: string): TokenReading {
  const text = output.trim();
  if (!text.startsWith("{")) return { token: text, rereadMs };
  const answer: unknown = JSON.parse(text);
  if (
    typeof answer !== "object" ||
    answer === null ||
    !("access_token" in answer) ||
    typeof answer.access_token !== "string"
  ) {
    throw new Error("the output holds no access_token");
  }
  const expiresInMs =
    "expires_in" in answer && typeof answer.expires_in === "number" ? answer.expires_in * 1000 : undefined;
  const scope = "scope" in answer && typeof answer.scope === "string" ? answer.scope : undefined;
  return { token: answer.access_token, expiresInMs, rereadMs, scope };
}

const mostBytes = 65_536;

/** Every program needs these: to find others, and its own files. */
const always = ["PATH", "HOME"];

type Variables = Readonly<Record<string, string | undefined>>;

/** Only the named variables of our environment. Others may be secret. */
export function environmentOf(names: readonly string[], environment: Variables): Variables {
  return Object.fromEntries([...always, ...names].map((name) => [name, environment[name]]));
}

/** Without a shell, only with this environment. Killed if too slow or too long. SecretFailure hides its output. */
export function outputOf(command: readonly string[], timeoutMs: number, env: Variables): Promise<string> {
  const [program = "", ...parameters] = command;
  return new Promise((resolve, reject) => {
    const options = { env, timeout: timeoutMs, maxBuffer: mostBytes, killSignal: "SIGKILL" as const };
    try {
      execFile(program, parameters, options, (error, output) => {
        if (error === null) resolve(output);
        else reject(new SecretFailure("command", stateOf(error, timeoutMs), program));
      });
    } catch {
      reject(new SecretFailure("command", "cannot be started", program));
    }
  });
}

function stateOf(error: { code?: unknown; killed?: unknown; signal?: unknown }, timeoutMs: number): string {
  const { code, killed, signal } = error;
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `printed more than ${mostBytes} bytes`;
  if (typeof code === "number") return `ended with exit code ${code}`;
  if (typeof code === "string") return `cannot be started (${code})`;
  if (killed === true) return `did not end within ${timeoutMs} ms`;
  return `was ended by ${String(signal)}`;
}
