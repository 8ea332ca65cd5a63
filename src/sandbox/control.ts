import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { contradictedRows } from "./contradicted-rows.ts";
import type { ContradictedRow } from "./contradicted-rows.ts";
import type { Faults } from "./faults.ts";
import { faultRuleSchema } from "./faults.ts";
import { handEditSchema, NotThere } from "./hand-edits.ts";
import type { HandEditInput, HandResult } from "./hand-edits.ts";
import type { Observation } from "./observation.ts";
import { jsonType } from "./replies.ts";
import type { Reply } from "./replies.ts";

/** What the control paths can do. */
export interface Controls {
  faults: Faults;
  observation: Observation;
  identity: () => string;
  counts: () => unknown;
  reset: () => void;
  expireTokens: () => void;
  dropOrders: (channelOrderId: string) => number;
  hand: (edit: HandEditInput) => HandResult;
  contradict: (rows: readonly ContradictedRow[]) => void;
  /** Takes no connections for `ms`, from the end of this reply on. */
  refuseFor: (ms: number) => void;
}

export const controlPrefix = "/_sandbox/";

/**
 * Answers a request below `/_sandbox/`, which is ours and no part of the services: GET state, identity, counts,
 * duplicates, e5, faults, health; POST faults, reset, expire-tokens, drop-orders, hand, contradict, refuse; DELETE
 * faults.
 */
export function controlReply(
  controls: Controls,
  method: string,
  path: string,
  query: URLSearchParams,
  text: string,
): Reply {
  const name = path.slice(controlPrefix.length);
  const { faults, observation } = controls;
  try {
    switch (`${method} ${name}`) {
      case "GET health":
        return reply(200, { ok: true });
      case "GET state":
        return reply(200, observation.state());
      case "GET identity":
        return reply(200, { identity: controls.identity() });
      case "GET counts":
        return reply(200, controls.counts());
      case "GET duplicates":
        return reply(200, observation.duplicates());
      case "GET e5":
        return reply(200, { bodies: observation.batches(query.get("channelOrderId") ?? "") });
      case "GET faults":
        return reply(200, { faults: faults.list() });
      case "DELETE faults":
        faults.clear(query.get("id") ?? undefined);
        return reply(200, { faults: faults.list() });
      default:
        return (
          (method === "POST" ? posted(controls, name, text) : undefined) ??
          reply(404, { error: `no ${method} ${path}` })
        );
    }
  } catch (error) {
    if (error instanceof z.ZodError) return reply(400, { error: z.prettifyError(error) });
    if (error instanceof NotThere) return reply(404, { error: error.message });
    if (error instanceof SyntaxError) return reply(400, { error: messageOf(error) });
    throw error;
  }
}

function posted(controls: Controls, name: string, text: string): Reply | undefined {
  switch (name) {
    case "faults":
      return reply(200, { id: controls.faults.add(faultRuleSchema.parse(JSON.parse(text))) });
    case "reset":
      controls.reset();
      return reply(200, { ok: true });
    case "expire-tokens":
      controls.expireTokens();
      return reply(200, { ok: true });
    case "drop-orders": {
      const { channelOrderId } = z.strictObject({ channelOrderId: z.string() }).parse(JSON.parse(text));
      return reply(200, { dropped: controls.dropOrders(channelOrderId) });
    }
    case "hand":
      return reply(200, controls.hand(handEditSchema.parse(JSON.parse(text))));
    case "contradict": {
      const { rows } = z.strictObject({ rows: z.array(z.enum(contradictedRows)) }).parse(JSON.parse(text));
      controls.contradict(rows);
      return reply(200, { rows });
    }
    case "refuse": {
      const { ms } = z.strictObject({ ms: z.int().min(1) }).parse(JSON.parse(text));
      controls.refuseFor(ms);
      return reply(200, { ok: true });
    }
    default:
      return undefined;
  }
}

function reply(status: number, body: unknown): Reply {
  return { status, type: jsonType, body: JSON.stringify(body) };
}
