/** The bases of the service's hosts, to which the contract's paths are appended. */

export interface HostUrls {
  events: string;
  relay: string;
  register: string;
  services: string;
  site: string;
  control: string;
}

/** The bases of a service that answers everything on one address; no trailing slash. */
export function hostUrls(base: string): HostUrls {
  const bare = base.replace(/\/+$/, '');
  return {
    events: bare,
    relay: bare,
    register: bare,
    services: bare,
    site: `${bare}/site`,
    control: `${bare}/_rewards`,
  };
}
