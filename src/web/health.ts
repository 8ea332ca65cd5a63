import { Hono } from "hono";
import { toInstant } from "../base/clock.ts";
import { messageOf, Problem } from "../base/errors.ts";
import type { Health, WebDependencies } from "../operate/health.ts";

/**
 * `/livez`: 200 while the program answers, without details: anybody may ask. `/healthz`: 503 if the ledger is
 * unreadable or a circuit is open. `wrong` also lists unfinished work, which alone gives 200.
 */
export function healthRoutes(deps: WebDependencies): Hono {
  const app = new Hono();
  app.on("GET", ["/livez", "/healthz"], async (context, next) => {
    await next();
    context.header("cache-control", "no-store");
    context.header("x-content-type-options", "nosniff");
  });
  app.get("/livez", (context) => context.json({ alive: true }));
  if (deps.read === undefined) return app;
  const state = readSeldom(deps, deps.read);
  app.get("/healthz", async (context) => {
    const { body, status } = await state();
    return context.json(body, status);
  });
  return app;
}

interface HealthAnswer {
  body: object;
  status: 200 | 503;
}

/** Anybody may ask as often as they like, so an answer is reused for this time. */
const answeredAgainMs = 1_000;

function readSeldom(deps: WebDependencies, read: () => Promise<Health>): () => Promise<HealthAnswer> {
  let last: { until: number; answer: Promise<HealthAnswer> } | undefined;
  return async () => {
    if (last === undefined || deps.clock.monotonic() >= last.until) {
      const own = { until: Infinity, answer: healthAnswer(deps, read) };
      last = own;
      void own.answer.then(() => (own.until = deps.clock.monotonic() + answeredAgainMs));
    }
    return await last.answer;
  };
}

async function healthAnswer(deps: WebDependencies, read: () => Promise<Health>): Promise<HealthAnswer> {
  const at = toInstant(deps.clock.now());
  try {
    const health = await inTime(read(), deps.readTimeoutMs ?? 5_000);
    const ill = complaints(health);
    const wrong = [...ill, ...notDone(health)];
    return { body: { healthy: wrong.length === 0, at, wrong, ...health }, status: ill.length === 0 ? 200 : 503 };
  } catch (thrown) {
    const code = thrown instanceof Problem ? thrown.code : "ledger.unreachable";
    deps.logger.error({ event: "health.unreadable", code, reason: messageOf(thrown) }, "the state could not be read");
    return { body: { healthy: false, at, wrong: [code], ledger: { reachable: false } }, status: 503 };
  }
}

function complaints(health: Health): string[] {
  const open = Object.entries(health.breakers).filter(([, state]) => state === "open");
  return [
    ...(health.ledger.reachable ? [] : ["ledger.unreachable"]),
    ...open.map(([service]) => `breaker.open:${service}`),
  ];
}

/** The work that exit codes, `status` and alerts report, with counts. */
function notDone({ open, paused }: Health): string[] {
  return [
    ...(paused === undefined ? [] : ["paused"]),
    ...(open.unknown === 0 ? [] : [`operations.unknown:${open.unknown}`]),
    ...(open.holds === 0 ? [] : [`holds.open:${open.holds}`]),
    ...open.runs,
    ...open.streams.map((stream) => `source.incomplete:${stream}`),
    ...(open.deliveries ?? []),
    ...(open.alerts ?? []).map((key) => `alert.${key}`),
    ...open.records.map((row) => `records.${row.standing}:${row.stream}:${row.code}:${row.count}`),
  ];
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `The ledger could not be read within ${ms} ms.`;
      reject(new Problem({ code: "ledger.slow", message, cure: "Check the disk, and which other programs use it." }));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
