import { messageOf } from "../base/errors.ts";
import { endpoints } from "../contract/endpoints.ts";
import { abortable } from "./abortable.ts";
import type { Call, ServiceContext } from "./call.ts";
import type { Circuit, Permit } from "./circuit.ts";
import type { Unsent } from "./conclusion.ts";
import type { SignedHeaders } from "./headers.ts";
import { TokenFailure } from "./token.ts";

const stopped: Unsent = { kind: "unsent", why: "aborted", reason: "stopped before it was sent" };

function circuitOpen(reason: string): Unsent {
  return { kind: "unsent", why: "circuit-open", reason };
}

/** What a call leaves with. */
interface Permitted {
  kind: "permitted";
  permit: Exclude<Permit, { kind: "refused" }>;
  signed: SignedHeaders;
}

/** The permit of a call that has to wait for nothing; undefined where something has to be waited for, or is refused. */
export function permitAtOnce<T>(
  { circuit, pace, headers }: ServiceContext,
  { endpoint, enterprise, signal }: Call<T>,
): Permitted | undefined {
  if (signal?.aborted === true || circuit.probeEnds() !== undefined || circuit.refusal() !== undefined)
    return undefined;
  const signed = headers.writeAtOnce(endpoints[endpoint], enterprise);
  if (signed === undefined || !pace.turnAtOnce()) return undefined;
  const permit = circuit.ask();
  return permit.kind === "refused" ? undefined : { kind: "permitted", permit, signed };
}

/** Waits for what a call needs before its intent is committed: its turn, its tokens and, last, the circuit's permit. */
export async function obtainPermit<T>(
  { circuit, pace, headers }: ServiceContext,
  { endpoint, enterprise, signal }: Call<T>,
): Promise<Permitted | Unsent> {
  try {
    await probeEnded(circuit, signal);
    const closed = circuit.refusal();
    if (closed !== undefined) return circuitOpen(closed);
    await pace.turn(signal);
    const signed = await headers.write(endpoints[endpoint], enterprise, signal);
    signal?.throwIfAborted();
    const permit = await askPermit(circuit, signal);
    return permit.kind === "refused" ? circuitOpen(permit.reason) : { kind: "permitted", permit, signed };
  } catch (thrown) {
    if (signal?.aborted === true) return stopped;
    if (thrown instanceof TokenFailure) return { kind: "unsent", why: "token", reason: thrown.message };
    return { kind: "unsent", why: "no-turn", reason: messageOf(thrown) };
  }
}

/**
 * Commits the intent while the permit is held; gives why the call is not sent all the same, where that came up
 * meanwhile.
 */
export async function commitIntent(
  circuit: Circuit,
  permit: Permit,
  beforeSending: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Unsent | undefined> {
  try {
    await beforeSending();
  } catch (thrown) {
    circuit.release(permit);
    throw thrown;
  }
  const closed = permit.kind === "probe" ? undefined : circuit.refusal();
  if (signal?.aborted !== true && closed === undefined) return undefined;
  circuit.release(permit);
  return closed === undefined ? stopped : circuitOpen(closed);
}

/**
 * While one call tries the service again, the others wait for what becomes of it, and are refused only when it failed.
 */
async function probeEnded(circuit: Circuit, signal: AbortSignal | undefined): Promise<void> {
  for (let ended = circuit.probeEnds(); ended !== undefined; ended = circuit.probeEnds())
    await abortable(ended, signal);
}

async function askPermit(circuit: Circuit, signal: AbortSignal | undefined): Promise<Permit> {
  for (;;) {
    await probeEnded(circuit, signal);
    const permit = circuit.ask();
    // Another one that waited may have become the next probe just now.
    if (permit.kind !== "refused" || circuit.probeEnds() === undefined) return permit;
  }
}
