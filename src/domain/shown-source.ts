/** A row of a station that is joined of several: the station itself, or a part. */
interface Member {
  source: string;
}

/**
 * The member of a joined station whose value of a field is shown (decisions 14.42): of the first source in `order` that
 * has one which says something; the station itself, the first of `members`, where no source of the order does.
 */
export const shownMember = <One extends Member>(
  members: readonly [One, ...One[]],
  order: readonly string[],
  says: (member: One) => boolean,
): One =>
  order
    .map((source) => members.find((one) => one.source === source && says(one)))
    .find((one) => one !== undefined) ?? members[0];
