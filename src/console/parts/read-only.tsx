/** A console that only looks: no form acts, and links lead to pages that it has. */
import { type Child, createContext, type FC, useContext } from 'hono/jsx';

export interface Scope {
  /** It is the operator's: nothing can be changed from it. */
  readOnly: boolean;
  /** Whether the console has a page at this address, without its query. */
  has: (address: string) => boolean;
}

export const ScopeContext = createContext<Scope>({ readOnly: false, has: () => true });

export const useScope = (): Scope => useContext(ScopeContext);

/** A link where the console has the page, else its text alone. */
export const PageLink: FC<{ to: string; children?: Child }> = ({ to, children }) =>
  useScope().has(to) ? <a href={to}>{children}</a> : <span>{children}</span>;
