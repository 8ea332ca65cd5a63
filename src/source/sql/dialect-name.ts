/** The databases whose SQL is spoken; MariaDB is one of `mysql`. */
export const dialectNames = ["postgres", "mysql", "sqlite"] as const;
export type DialectName = (typeof dialectNames)[number];
