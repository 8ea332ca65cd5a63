/** How each change of a thing is written, by its type. Runs inside the writer's transaction. */
export type Writes<Change extends { type: string }> = {
  readonly [One in Change as One["type"]]: (change: One, at: string) => void;
};
