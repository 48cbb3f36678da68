/** What a console may do and which pages it has: the operator's only looks, no form acts, and links lead to pages that it has. */
import { type Child, createContext, type FC, useContext } from 'hono/jsx';

export interface Scope {
  /** It is the operator's: nothing can be changed from it. */
  readOnly: boolean;
  /** Whether the console has a page at this address, without its query. */
  has: (address: string) => boolean;
}

export const ScopeContext = createContext<Scope>({ readOnly: false, has: () => true });

renderWithoutAsyncStorage();

/**
 * hono/jsx carries contexts over `await` in an AsyncLocalStorage, and from the first use of one, Node before 24 follows
 * every promise of the process for as long as it runs: a tenth of the time of an event. No component here awaits
 * anything. It looks for the class once, when a context is first asked for, and does without where there is none.
 */
function renderWithoutAsyncStorage(): void {
  const { getBuiltinModule, mainModule } = process;
  Object.assign(process, { getBuiltinModule: undefined, mainModule: undefined });
  useContext(ScopeContext);
  Object.assign(process, { getBuiltinModule, mainModule });
}

export const useScope = (): Scope => useContext(ScopeContext);

/** A link where the console has the page, else its text alone. */
export const PageLink: FC<{ to: string; children?: Child }> = ({ to, children }) =>
  useScope().has(to) ? <a href={to}>{children}</a> : <span>{children}</span>;
