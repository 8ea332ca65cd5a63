import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import { toJson } from "./canonical-json.ts";
import type { KnownSecrets } from "./known-secrets.ts";

export type Logger = PinoLogger;

/** Never logged, at the top of the fields or one level down. The last defence: events choose their fields. */
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

/** JSON lines, by default to stderr. Times are ISO instants in UTC. */
export function createLogger(options: {
  level: string;
  destination?: DestinationStream | undefined;
  now?: () => number;
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

/** If nobody reads stderr any more, lines are lost and the program continues. */
function stderr(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true });
  destination.on("error", () => {});
  return destination;
}
