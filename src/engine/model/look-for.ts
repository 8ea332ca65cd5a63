export const orderDesk = "the service desk of the order service";
export const memberDesk = "the service desk of the member-center";
const mostShown = 10;

/** Names the enterprise that an operation was sent for. */
export function withinEnterprise(context: { enterpriseGlobalId: string } | undefined): string {
  const enterprise = context?.enterpriseGlobalId ?? "";
  return enterprise === "" ? "the customer's enterprise" : `the enterprise ${enterprise}`;
}

/** The first items, and how many more there are. */
export function some(items: readonly string[]): string {
  if (items.length === 0) return "(none known)";
  const more = items.length - mostShown;
  return more > 0 ? `${items.slice(0, mostShown).join(", ")} and ${more} more` : items.join(", ");
}
