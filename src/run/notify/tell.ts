import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { Unreached } from "../webhook.ts";
import type { Alert } from "./alert.ts";
import { bodyOf, fromBody } from "./alert.ts";
import { dueFor } from "./due.ts";
import type { Change, Standing, Told } from "./due.ts";
import { composed, groupsOf } from "./message.ts";
import type { AlertMessage } from "./message.ts";
import type { WayDependencies } from "./way.ts";
import { deliver, reasonOf } from "./ways.ts";
import type { Way } from "./ways.ts";

/** What the ledger keeps of alerts. */
export type AlertStore = Pick<
  Ledger["schedule"],
  | "alerts"
  | "standAlerts"
  | "toldAlerts"
  | "tellAlerts"
  | "untoldAlerts"
  | "onlyDeliveries"
  | "deliveries"
  | "noteDelivery"
  | "clearDelivery"
>;

export interface NotifyDependencies extends WayDependencies {
  ways: readonly Way[];
  /** The names of the dead man's switches that are configured. */
  switches: readonly string[];
  /** After which time people are told again of what still stands; undefined: never. */
  remindAfterMs: number | undefined;
  /** Where the pages are reached from outside. */
  publicUrl: string | undefined;
  /** Who speaks: the name of this instance, and its ledger. */
  instance: string;
  /** Completes the commands that a text suggests. */
  suggested: (text: string) => string;
  store: AlertStore;
}

/** A message that was delivered, and by which way. */
export interface DeliveredMessage {
  way: string;
  message: AlertMessage;
}

/**
 * Tells people by each way what it did not tell yet of the states in `now`: what began, grew, still stands after the
 * time to remind, and ended, one message for each kind. Ways know nothing of each other: what one could not deliver is
 * logged and goes that way again at the next call. Never rejects because of a delivery. Answers what was delivered.
 */
export async function notifyChanges(
  now: readonly Alert[],
  deps: Omit<NotifyDependencies, "switches">,
  ways = deps.ways,
): Promise<DeliveredMessage[]> {
  const { store } = deps;
  const standing = await standingNow(now, store);
  const told = await toldByWay(store);
  const delivered = await Promise.all(
    ways.map((way) => tellBy(way, standing, told.get(way.name) ?? new Map<string, Told>(), deps)),
  );
  return delivered.flat();
}

/** Keeps the states of now in the place of those of the last look, each once and since it was first met. */
async function standingNow(now: readonly Alert[], store: AlertStore): Promise<Standing[]> {
  const alerts = [...new Map(now.toReversed().map((alert) => [alert.key, alert])).values()].toReversed();
  await store.standAlerts(alerts.map((alert) => ({ key: alert.key, body: bodyOf(alert) })));
  const kept = await store.alerts();
  return alerts.flatMap((alert) => {
    const since = kept.get(alert.key)?.since;
    return since === undefined ? [] : [{ alert, since }];
  });
}

async function toldByWay(store: AlertStore): Promise<Map<string, Map<string, Told>>> {
  const ways = new Map<string, Map<string, Told>>();
  for (const { way, key, since, body, toldAt } of await store.toldAlerts()) {
    const told = ways.get(way) ?? new Map<string, Told>();
    ways.set(way, told.set(key, { alert: fromBody(key, body), since, toldAt }));
  }
  return ways;
}

async function tellBy(
  way: Way,
  standing: readonly Standing[],
  told: ReadonlyMap<string, Told>,
  deps: Omit<NotifyDependencies, "switches">,
): Promise<DeliveredMessage[]> {
  const { store, clock, remindAfterMs, instance, publicUrl, suggested } = deps;
  const due = dueFor(way, standing, told, { now: clock.now(), remindAfterMs });
  if (due.fewer.length > 0 || due.forgotten.length > 0)
    await store.untoldAlerts(way.name, due.fewer.map(kept), due.forgotten);
  const delivered: DeliveredMessage[] = [];
  const problems: string[] = [];
  for (const changes of groupsOf(due.changes)) {
    const message = composed(changes, { instance, at: toInstant(clock.now()), publicUrl, suggested });
    const { problem, goesOn } = await delivers(message, way, deps);
    if (problem !== undefined) problems.push(problem);
    if (goesOn === "delivered") {
      await keepTold(way, changes, store);
      delivered.push({ way: way.name, message });
    }
    if (goesOn === "stop") break;
  }
  await noteHealth(way, { tried: due.changes.length > 0, problem: problems[0] }, store);
  return delivered;
}

function kept(alert: Alert): { key: string; body: Json } {
  return { key: alert.key, body: bodyOf(alert) };
}

async function keepTold({ name }: Way, changes: readonly Change[], store: AlertStore): Promise<void> {
  const standing = changes.filter(({ event }) => event !== "ended");
  await store.tellAlerts(
    name,
    standing.map(({ alert, since }) => ({ ...kept(alert), since })),
    changes.filter(({ event }) => event === "ended").map(({ alert }) => alert.key),
  );
}

/** A way has a problem as long as something waits for it. */
async function noteHealth(
  { name }: Way,
  { tried, problem }: { tried: boolean; problem: string | undefined },
  store: AlertStore,
): Promise<void> {
  if (tried) await store.noteDelivery("way", name, problem);
  else if ((await store.deliveries()).some((one) => one.kind === "way" && one.name === name && one.problem !== null))
    await store.clearDelivery("way", name);
}

/**
 * `stop`: nobody answered, and each message more would wait as long. A message that was answered with a refusal keeps
 * none of the others from being told.
 */
async function delivers(
  message: AlertMessage,
  way: Way,
  deps: WayDependencies,
): Promise<{ problem: string | undefined; goesOn: "delivered" | "next" | "stop" }> {
  const line = { by: way.name, key: message.key };
  try {
    const { partly } = await deliver(message, way, deps);
    if (partly !== undefined)
      deps.logger.error({ event: "alert.partly-delivered", ...line, reason: partly }, "not everybody got an alert");
    return { problem: partly, goesOn: "delivered" };
  } catch (thrown) {
    const reason = reasonOf(thrown, deps.known);
    deps.logger.error(
      { event: "alert.not-delivered", ...line, reason },
      "an alert could not be delivered; it is tried again after the next run",
    );
    return { problem: reason, goesOn: thrown instanceof Unreached ? "stop" : "next" };
  }
}
