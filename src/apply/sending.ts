import type { WriteCall } from "../platform/call.ts";

/** What a writing call is given so that it leaves only with a permit, and not before its intent is on disk. */
export type Permit = Required<Pick<WriteCall, "beforeSending" | "recorded">>;

/**
 * One attempt, in this order: permit (circuit, concurrency, rate, token), intent, first byte, outcome. `intend` commits
 * the intent and gives its id. `record` gets undefined for an id where no permit was given: then nothing was written
 * down and nothing left. The permit is kept until the outcome stands in the writer's queue, ahead of the next call's
 * intent, so that what is `sending` on disk is never more than `callsAtOnce`.
 */
export async function sendOnce<Sent, Recorded>(
  intend: (acceptedUntil: number | undefined) => Promise<string>,
  send: (permit: Permit) => Promise<Sent>,
  record: (id: string | undefined, sent: Sent) => Promise<Recorded>,
): Promise<Recorded> {
  const recorded = Promise.withResolvers<void>();
  const intent: { id: string | undefined } = { id: undefined };
  const beforeSending = async (acceptedUntil?: number): Promise<void> => {
    intent.id = await intend(acceptedUntil);
  };
  try {
    const sent = await send({ beforeSending, recorded: recorded.promise });
    const recording = record(intent.id, sent);
    recorded.resolve();
    return await recording;
  } finally {
    recorded.resolve();
  }
}
