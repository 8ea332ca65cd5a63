import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import { toJson } from "./canonical-json.ts";
import type { KnownSecrets } from "./known-secrets.ts";

export type Logger = PinoLogger;

/**
 * Keys whose values never reach a log line, at the top of the bound fields or one level down. The last line of defence:
 * events pick their fields.
 */
const neverLogged = [
  "authorization",
  "Authorization",
  "clientToken",
  "userToken",
  "token",
  "password",
  "passwords",
  "secret",
  "name",
  "customerName",
  "adminName",
  "adminEmail",
  "adminCellNumber",
  "passwordMobile",
  "mobile",
  "email",
  "address",
  "userName",
];

/** A logger of JSON lines on `destination` (stderr by default). Times are ISO instants in UTC. */
export function createLogger(options: {
  level: string;
  destination?: DestinationStream | undefined;
  now?: () => number;
  /** What no line may hold. */
  known?: KnownSecrets | undefined;
}): Logger {
  const { known } = options;
  const now = options.now ?? Date.now;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      ...(known !== undefined && { formatters: { log: (fields) => cleanFields(fields, known) } }),
      redact: { paths: neverLogged.flatMap((key) => [key, `*.${key}`]), censor: "[redacted]" },
    },
    options.destination ?? stderr(),
  );
}

function cleanFields(fields: Record<string, unknown>, known: KnownSecrets): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value === "string") return [name, known.words(value)];
      return [name, typeof value === "object" && value !== null ? known.tree(toJson(value), "words") : value];
    }),
  );
}

/** Where nobody reads any more, such as a terminal that was closed, lines are lost and nothing ends because of it. */
function stderr(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true });
  destination.on("error", () => {});
  return destination;
}
