import type { OperationType } from "./resource.ts";
import { plainKind, readBackByNothing } from "./kind.ts";
import type { Kind } from "./kind.ts";
import type { Shapes } from "./shape.ts";

/** Operation types of a resource in the form in which the engine asks for them, until all of them are in a resource. */
export function asKind<S extends Shapes>(type: OperationType<S>): Kind<S> {
  const { onUnknown, decide, can } = type;
  const { governed, removes, claims, assumes, holders, credentials, afterRefusal, prints } = can;
  const observes = onUnknown.by === "observe" ? onUnknown : undefined;
  const resends = onUnknown.by === "resend" ? onUnknown : undefined;
  return {
    ...plainKind,
    endpoint: type.endpoint,
    stages: type.stages,
    schemas: type.schemas,
    outdates: type.invalidates,
    prepare: type.prepare,
    undone: type.reversal,
    lookFor: type.whereToLook,
    countAsApplied: decide.applied,
    cureOfPart: decide.partCure,
    whenNotApplied: (entry) => [...(decide.notApplied?.(entry) ?? [])],
    whenUnknown: onUnknown.by === "observe" ? "read" : onUnknown.by === "resend" ? "send-again" : onUnknown.by,
    read: async (...of) => await ((observes ?? resends)?.observe?.(...of) ?? readBackByNothing()),
    notFound: async (...of) => (await observes?.notShown?.(...of)) ?? { kind: "drop" },
    isAsynchronous: (operation) => observes?.async?.(operation) === true,
    isSentSparingly: observes?.nonRepeatable === true || onUnknown.by === "ask",
    mostOddAnswers: resends?.maxOddAnswers ?? plainKind.mostOddAnswers,
    lost: (payload) => (onUnknown.by === "lost" ? onUnknown.record(payload) : plainKind.lost()),
    policy: governed?.policy,
    approvedAlone: governed?.alone === true,
    takes: removes?.thing,
    takesAway: (operation) => removes?.count(operation) ?? 0,
    claims: claims?.what,
    uniqueness: (operation) => claims?.of(operation),
    amends: (operation) => can.expects?.(operation),
    requests: (operation) => can.answers?.(operation) ?? [],
    parts: (operation) => can.items?.(operation),
    assets: (operation) => can.numbers?.(operation) ?? [],
    newAccounts: (operation) => credentials?.accounts?.(operation) ?? [],
    newPasswords: (operation) => credentials?.passwords?.(operation) ?? [],
    granted: (operation) => holders?.grants?.(operation) ?? [],
    freed: (operation) => holders?.frees?.(operation) ?? [],
    restsOn: assumes?.always ?? [],
    rests: (operation) => assumes?.by?.(operation) ?? [],
    metByOddData: (data) => assumes?.oddData?.(data) ?? [],
    metUnshown: (facts) => assumes?.notShown?.(facts) ?? [],
    mayHoldAfterRefusal: afterRefusal !== undefined,
    shownAfterRefusal: async (...of) => await afterRefusal?.(...of),
    planLines: (operation) => prints?.payload?.(operation) ?? plainKind.planLines(operation),
    counted: (payload) => prints?.count?.(payload),
    line: prints?.line,
  };
}
