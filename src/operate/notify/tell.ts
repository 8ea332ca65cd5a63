import { type Clock, toInstant } from "../../base/clock.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { Unreached, type ChannelDependencies, deliver, reasonOf, type Channel } from "./channels.ts";
import { type Alert, bodyOf, fromBody, dueFor, type Change, type Standing, type Told } from "./alert.ts";
import { composed, groupsOf, type AlertMessage } from "./message.ts";

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

export interface NotifyDependencies extends ChannelDependencies {
  clock: Clock;
  channels: readonly Channel[];
  switches: readonly string[];
  remindAfterMs: number | undefined;
  publicUrl: string | undefined;
  instance: string;
  suggested: (text: string) => string;
  store: AlertStore;
}

interface DeliveredMessage {
  channel: string;
  message: AlertMessage;
}

/** Channels are independent: a failed one sends the message again at the next call. No delivery makes this reject. */
export async function notifyChanges(
  now: readonly Alert[],
  deps: Omit<NotifyDependencies, "switches">,
  channels = deps.channels,
): Promise<DeliveredMessage[]> {
  const { store } = deps;
  const standing = await standingNow(now, store);
  const told = await toldByChannel(store);
  const delivered = await Promise.all(
    channels.map((channel) => tellBy(channel, standing, told.get(channel.name) ?? new Map<string, Told>(), deps)),
  );
  return delivered.flat();
}

async function standingNow(now: readonly Alert[], store: AlertStore): Promise<Standing[]> {
  const alerts = [...new Map(now.toReversed().map((alert) => [alert.key, alert])).values()].toReversed();
  await store.standAlerts(alerts.map((alert) => ({ key: alert.key, body: bodyOf(alert) })));
  const kept = await store.alerts();
  return alerts.flatMap((alert) => {
    const since = kept.get(alert.key)?.since;
    return since === undefined ? [] : [{ alert, since }];
  });
}

async function toldByChannel(store: AlertStore): Promise<Map<string, Map<string, Told>>> {
  const channels = new Map<string, Map<string, Told>>();
  for (const { channel, key, since, body, toldAt } of await store.toldAlerts()) {
    const told = channels.get(channel) ?? new Map<string, Told>();
    channels.set(channel, told.set(key, { alert: fromBody(key, body), since, toldAt }));
  }
  return channels;
}

async function tellBy(
  channel: Channel,
  standing: readonly Standing[],
  told: ReadonlyMap<string, Told>,
  deps: Omit<NotifyDependencies, "switches">,
): Promise<DeliveredMessage[]> {
  const { store, clock, remindAfterMs, instance, publicUrl, suggested } = deps;
  const due = dueFor(channel, standing, told, { now: clock.now(), remindAfterMs });
  if (due.fewer.length > 0 || due.forgotten.length > 0)
    await store.untoldAlerts(channel.name, due.fewer.map(kept), due.forgotten);
  const delivered: DeliveredMessage[] = [];
  const problems: string[] = [];
  for (const changes of groupsOf(due.changes)) {
    const message = composed(changes, { instance, at: toInstant(clock.now()), publicUrl, suggested });
    const { problem, goesOn } = await delivers(message, channel, deps);
    if (problem !== undefined) problems.push(problem);
    if (goesOn === "delivered") {
      await keepTold(channel, changes, store);
      delivered.push({ channel: channel.name, message });
    }
    if (goesOn === "stop") break;
  }
  await noteHealth(channel, { tried: due.changes.length > 0, problem: problems[0] }, store);
  return delivered;
}

function kept(alert: Alert): { key: string; body: Json } {
  return { key: alert.key, body: bodyOf(alert) };
}

async function keepTold({ name }: Channel, changes: readonly Change[], store: AlertStore): Promise<void> {
  const standing = changes.filter(({ event }) => event !== "ended");
  await store.tellAlerts(
    name,
    standing.map(({ alert, since }) => ({ ...kept(alert), since })),
    changes.filter(({ event }) => event === "ended").map(({ alert }) => alert.key),
  );
}

/** A channel has a problem as long as a message waits for it. */
async function noteHealth(
  { name }: Channel,
  { tried, problem }: { tried: boolean; problem: string | undefined },
  store: AlertStore,
): Promise<void> {
  if (tried) await store.noteDelivery("channel", name, problem);
  else if (
    (await store.deliveries()).some((one) => one.kind === "channel" && one.name === name && one.problem !== null)
  )
    await store.clearDelivery("channel", name);
}

/** `stop`: no answer, so each further message would wait as long. A refused message does not stop the others. */
async function delivers(
  message: AlertMessage,
  channel: Channel,
  deps: ChannelDependencies,
): Promise<{ problem: string | undefined; goesOn: "delivered" | "next" | "stop" }> {
  const line = { by: channel.name, key: message.key };
  try {
    const { partly } = await deliver(message, channel, deps);
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
