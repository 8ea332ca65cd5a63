import { pino } from "pino";
import type { DestinationStream, Logger as PinoLogger } from "pino";

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
}): Logger {
  const now = options.now ?? Date.now;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      redact: { paths: neverLogged.flatMap((key) => [key, `*.${key}`]), censor: "[redacted]" },
    },
    options.destination ?? stderr(),
  );
}

/** Where nobody reads any more, such as a terminal that was closed, lines are lost and nothing ends because of it. */
function stderr(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true });
  destination.on("error", () => {});
  return destination;
}
