/** The port to DNS: the TXT records of a name. */
export interface TxtResolver {
  /** Each record as one text; an empty list when the name has no TXT record. Rejects when DNS gives no answer. */
  txtRecords(name: string): Promise<string[]>;
}
