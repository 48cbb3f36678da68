-- A domain that two brands wrote down at the same moment stays with the one of the lower id.
delete from brand_domains
where source = 'configured' and brand_id > (
  select min(other.brand_id) from brand_domains other
  where other.domain = brand_domains.domain and other.source = 'configured'
);

create unique index brand_domains_configured on brand_domains (domain) where source = 'configured';
