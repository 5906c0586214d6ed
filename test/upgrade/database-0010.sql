SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.ensure_mark_partitions(first_day date, days integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
    declare
      made integer := 0;
      d date;
      n bigint;
      part text;
    begin
      perform pg_advisory_xact_lock(7166734);
      for i in 0 .. days - 1 loop
        d := first_day + i;
        n := d - date '1970-01-01';
        part := 'marks_' || to_char(d, 'YYYYMMDD');
        if to_regclass(part) is null then
          execute format('create table %I (like marks including all)', part);
          execute format('alter table %I add constraint %I check (id >= %s and id < %s)', part, part || '_range', n << 32, (n + 1) << 32);
          execute format('alter table marks attach partition %I for values from (%s) to (%s)', part, n << 32, (n + 1) << 32);
          made := made + 1;
        end if;
      end loop;
      return made;
    end
    $$;
CREATE FUNCTION public.expect_count(counted bigint, expected bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
    begin
      if counted <> expected then
        raise exception '% of % rows were as expected', counted, expected using errcode = 'FM001';
      end if;
    end
    $$;
CREATE FUNCTION public.feed_safe() RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
    declare
      t timestamptz;
    begin
      if pg_try_advisory_lock_shared(7166733) then
        t := server_now();
        perform pg_advisory_unlock_shared(7166733);
      end if;
      return t;
    end
    $$;
CREATE FUNCTION public.feed_stamp(ids text[], gone boolean DEFAULT false) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
    declare
      t timestamptz;
    begin
      if coalesce(array_length(ids, 1), 0) = 0 then return null; end if;
      perform pg_advisory_xact_lock(7166733);
      select greatest(server_now(), (select c.at from changes c order by c.seq desc limit 1)) into t;
      insert into changes (station_id, seq, at, removed)
        select x.id, nextval('change_seq'), t, gone from (select distinct unnest(ids) as id order by 1) x
        on conflict (station_id) do update set seq = excluded.seq, at = excluded.at, removed = excluded.removed;
      perform pg_notify('changes', '');
      return currval('change_seq');
    end
    $$;
CREATE FUNCTION public.lock_stations(wanted text[], skip_locked boolean) RETURNS SETOF text
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
    begin
      insert into station_status (station_id)
        select s.id from stations s
        where s.id = any(wanted) and not exists (select from station_status st where st.station_id = s.id)
        order by s.id on conflict do nothing;
      if skip_locked then
        return query select st.station_id from station_status st where st.station_id = any(wanted)
          order by st.station_id for no key update skip locked;
      else
        return query select st.station_id from station_status st where st.station_id = any(wanted)
          order by st.station_id for no key update;
      end if;
    end
    $$;
CREATE FUNCTION public.next_mark_id(received timestamp with time zone) RETURNS bigint
    LANGUAGE sql
    AS $$
      select (((received at time zone 'UTC')::date - date '1970-01-01')::bigint << 32) | nextval('mark_seq')
    $$;
CREATE FUNCTION public.server_now() RETURNS timestamp with time zone
    LANGUAGE sql
    AS $$
      select clock_timestamp()
        + make_interval(secs => coalesce(nullif(current_setting('fuelmark.clock_offset_s', true), ''), '0')::double precision)
    $$;
CREATE SEQUENCE public.change_seq;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.changes (
    station_id text NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    removed boolean DEFAULT false NOT NULL
);
CREATE TABLE public.cities (
    id text NOT NULL,
    source text NOT NULL,
    name text NOT NULL,
    region text DEFAULT ''::text NOT NULL,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    population integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT cities_lat_check CHECK (((lat >= ('-90'::integer)::double precision) AND (lat <= (90)::double precision))),
    CONSTRAINT cities_lon_check CHECK (((lon >= ('-180'::integer)::double precision) AND (lon <= (180)::double precision))),
    CONSTRAINT cities_name_check CHECK ((name <> ''::text)),
    CONSTRAINT cities_population_check CHECK ((population >= 0))
);
CREATE TABLE public.imports (
    id integer NOT NULL,
    kind text NOT NULL,
    file text NOT NULL,
    source text,
    replace_source boolean NOT NULL,
    dry_run boolean NOT NULL,
    actor text NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    step text DEFAULT ''::text NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    total bigint,
    summary jsonb,
    fault text,
    started_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    seen_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT imports_kind_check CHECK ((kind = ANY (ARRAY['stations'::text, 'cities'::text, 'statuses'::text]))),
    CONSTRAINT imports_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'refused'::text, 'failed'::text])))
);
ALTER TABLE public.imports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.keys (
    id integer NOT NULL,
    partner_id integer NOT NULL,
    kind text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    domains text[] DEFAULT '{}'::text[] NOT NULL,
    ips text[] DEFAULT '{}'::text[] NOT NULL,
    confirm_min integer DEFAULT 0 NOT NULL,
    reports boolean DEFAULT true NOT NULL,
    mass_no_limit integer DEFAULT 20 NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT keys_confirm_min_check CHECK (((confirm_min = ANY (ARRAY[0, 1])) OR ((confirm_min >= 3) AND (confirm_min <= 1000)))),
    CONSTRAINT keys_kind_check CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text]))),
    CONSTRAINT keys_mass_no_limit_check CHECK ((mass_no_limit >= 1))
);
ALTER TABLE public.keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.knex_migrations (
    id integer NOT NULL,
    name character varying(255),
    batch integer,
    migration_time timestamp with time zone
);
CREATE SEQUENCE public.knex_migrations_id_seq AS integer;
ALTER SEQUENCE public.knex_migrations_id_seq OWNED BY public.knex_migrations.id;
CREATE TABLE public.knex_migrations_lock (
    index integer NOT NULL,
    is_locked integer
);
CREATE SEQUENCE public.knex_migrations_lock_index_seq AS integer;
ALTER SEQUENCE public.knex_migrations_lock_index_seq OWNED BY public.knex_migrations_lock.index;
CREATE TABLE public.limit_requests (
    id integer NOT NULL,
    partner_id integer NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    requested_rpm integer NOT NULL,
    requested_daily integer NOT NULL,
    comment text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    decided_at timestamp with time zone,
    decision_comment text DEFAULT ''::text NOT NULL,
    CONSTRAINT limit_requests_requested_daily_check CHECK (((requested_daily >= 1) AND (requested_daily <= 100000000))),
    CONSTRAINT limit_requests_requested_rpm_check CHECK (((requested_rpm >= 1) AND (requested_rpm <= 100000))),
    CONSTRAINT limit_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text])))
);
ALTER TABLE public.limit_requests ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.mark_keys (
    partner_id integer NOT NULL,
    external_id text NOT NULL,
    mark_id bigint NOT NULL,
    station_id text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.mark_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 4294967295
    CACHE 1
    CYCLE;
CREATE TABLE public.marks (
    id bigint NOT NULL,
    station_id text NOT NULL,
    reporter_id bigint NOT NULL,
    partner_id integer,
    key_id integer,
    source text NOT NULL,
    viewer bytea,
    external_id text,
    status text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    lat double precision,
    lon double precision,
    acc_m double precision,
    express boolean DEFAULT false NOT NULL,
    fuels text[],
    fuels_no text[],
    queue text,
    prices jsonb,
    limit_l integer,
    limit_stated boolean DEFAULT false NOT NULL,
    no_cash boolean,
    fuel_cards_only boolean,
    comment text,
    remote boolean NOT NULL,
    needed smallint NOT NULL,
    rule text NOT NULL,
    newcomer boolean DEFAULT false NOT NULL,
    review text DEFAULT 'none'::text NOT NULL,
    processed_at timestamp with time zone,
    outcome text,
    outcome_status text,
    outcome_reason text,
    outcome_have integer,
    failed_at timestamp with time zone,
    failure text,
    CONSTRAINT marks_needed_check CHECK ((needed >= 1)),
    CONSTRAINT marks_outcome_check CHECK ((outcome = ANY (ARRAY['published'::text, 'confirmed'::text, 'pending'::text, 'conflict'::text, 'superseded'::text, 'held'::text, 'expired'::text]))),
    CONSTRAINT marks_review_check CHECK ((review = ANY (ARRAY['none'::text, 'held'::text, 'approved'::text, 'rejected'::text, 'withdrawn'::text, 'expired'::text]))),
    CONSTRAINT marks_rule_check CHECK ((rule = ANY (ARRAY['key-threshold'::text, 'remote'::text, 'no-nearby-marks'::text, 'geolocated'::text]))),
    CONSTRAINT marks_source_check CHECK ((source = ANY (ARRAY['partner'::text, 'widget'::text, 'demo'::text]))),
    CONSTRAINT marks_status_check CHECK ((status = ANY (ARRAY['yes'::text, 'low'::text, 'no'::text, 'queue'::text])))
)
PARTITION BY RANGE (id);
CREATE TABLE public.operator_log (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE public.operator_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.operators (
    id integer NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    password text,
    key_hash bytea,
    key_prefix text,
    disabled_at timestamp with time zone,
    last_sign_in_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT operators_name_check CHECK ((name <> ''::text)),
    CONSTRAINT operators_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text])))
);
ALTER TABLE public.operators ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.opinions (
    station_id text NOT NULL,
    reporter_id bigint NOT NULL,
    mark_id bigint NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    mark jsonb NOT NULL
);
CREATE TABLE public.partners (
    id integer NOT NULL,
    name text NOT NULL,
    rpm integer DEFAULT 120 NOT NULL,
    daily integer DEFAULT 50000 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    bind_ips boolean DEFAULT true NOT NULL,
    accept_remote boolean DEFAULT true NOT NULL,
    cache_ttl_s integer,
    created_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT partners_cache_ttl_s_check CHECK (((cache_ttl_s >= 0) AND (cache_ttl_s <= 3600))),
    CONSTRAINT partners_daily_check CHECK (((daily >= 1) AND (daily <= 100000000))),
    CONSTRAINT partners_name_check CHECK ((name <> ''::text)),
    CONSTRAINT partners_rpm_check CHECK (((rpm >= 1) AND (rpm <= 100000)))
);
ALTER TABLE public.partners ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.reporters (
    id bigint NOT NULL,
    hash bytea NOT NULL,
    partner_id integer,
    viewer bytea,
    first_seen timestamp with time zone
);
ALTER TABLE public.reporters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.seeds (
    station_id text NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    updated timestamp with time zone NOT NULL,
    status text NOT NULL,
    fuels_now text[] DEFAULT '{}'::text[] NOT NULL,
    fuels_no text[] DEFAULT '{}'::text[] NOT NULL,
    source text NOT NULL,
    CONSTRAINT seeds_status_check CHECK ((status = ANY (ARRAY['yes'::text, 'low'::text, 'no'::text, 'queue'::text])))
);
CREATE TABLE public.sessions (
    id bigint NOT NULL,
    kind text NOT NULL,
    subject_id integer NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    address text NOT NULL,
    agent text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT sessions_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'operator'::text])))
);
ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE public.station_status (
    station_id text NOT NULL,
    state jsonb,
    status text DEFAULT 'nodata'::text NOT NULL,
    next_at timestamp with time zone,
    refold boolean DEFAULT false NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT station_status_status_check CHECK ((status = ANY (ARRAY['yes'::text, 'low'::text, 'no'::text, 'queue'::text, 'nodata'::text])))
);
CREATE TABLE public.stations (
    id text NOT NULL,
    source text NOT NULL,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    brand text DEFAULT ''::text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    addr text DEFAULT ''::text NOT NULL,
    removed_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    updated_at timestamp with time zone DEFAULT public.server_now() NOT NULL,
    CONSTRAINT stations_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT stations_lat_check CHECK (((lat >= ('-90'::integer)::double precision) AND (lat <= (90)::double precision))),
    CONSTRAINT stations_lon_check CHECK (((lon >= ('-180'::integer)::double precision) AND (lon <= (180)::double precision)))
);
CREATE TABLE public.usage_batches (
    id text NOT NULL,
    at timestamp with time zone DEFAULT public.server_now() NOT NULL
);
CREATE TABLE public.usage_days (
    partner_id integer NOT NULL,
    day date NOT NULL,
    audience text NOT NULL,
    method text NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    not_modified bigint DEFAULT 0 NOT NULL,
    errors bigint DEFAULT 0 NOT NULL,
    CONSTRAINT usage_days_audience_check CHECK ((audience = ANY (ARRAY['partner'::text, 'widget'::text])))
);
ALTER TABLE ONLY public.knex_migrations ALTER COLUMN id SET DEFAULT nextval('public.knex_migrations_id_seq'::regclass);
ALTER TABLE ONLY public.knex_migrations_lock ALTER COLUMN index SET DEFAULT nextval('public.knex_migrations_lock_index_seq'::regclass);
INSERT INTO public.changes VALUES
	('n1002', 3, '2026-11-22 03:30:27.500563+00', false),
	('n1000', 4, '2026-11-22 03:30:28.34917+00', false),
	('n1001', 5, '2026-11-22 03:30:28.435176+00', false);
INSERT INTO public.cities VALUES
	('c1', 'test', 'Тестоград', 'Область', 55, 37, 300000, '2026-11-22 03:30:27.49734+00');
INSERT INTO public.keys OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'publishable', 'pk_live_ZTZo', '\x185a495dff2ebdfffdd82b594606c0fb0bd1d0161bb7981273a387132ae1c6ad', 'the map at /', '{localhost}', '{}', 0, true, 20, NULL, NULL, NULL, '2026-11-22 03:30:27.367769+00', '2026-11-22 03:30:27.36778+00'),
	(3, 2, 'publishable', 'pk_live_1ltI', '\x65402fd3fca17b36ba30b3ccb5e46b45e9bd7667e29002ef3e04d4727761e72e', '', '{}', '{}', 0, true, 20, NULL, NULL, NULL, '2026-11-22 03:30:27.485669+00', '2026-11-22 03:30:27.485676+00'),
	(2, 2, 'secret', 'svc_live_3l9Q', '\x6072750dc71ee1ccd710150ef61c1a8b4a0b31cf9c5e9b11fa1a81462c916e73', '', '{}', '{}', 0, true, 20, NULL, NULL, '2026-11-22 03:30:28.393+00', '2026-11-22 03:30:27.480747+00', '2026-11-22 03:30:27.480755+00');
INSERT INTO public.knex_migrations VALUES
	(1, '0001_create_schema', 1, '2026-11-22 03:30:26.868+00'),
	(2, '0002_create_change_feed', 1, '2026-11-22 03:30:26.889+00'),
	(3, '0003_create_mark_partitions', 1, '2026-11-22 03:30:27.176+00'),
	(4, '0004_lock_stations', 1, '2026-11-22 03:30:27.182+00'),
	(5, '0006_create_sessions', 1, '2026-11-22 03:30:27.199+00'),
	(6, '0007_create_operators', 1, '2026-11-22 03:30:27.218+00'),
	(7, '0008_index_marks_by_key', 1, '2026-11-22 03:30:27.29+00'),
	(8, '0009_create_imports', 1, '2026-11-22 03:30:27.308+00'),
	(9, '0010_send_statements_together', 1, '2026-11-22 03:30:27.328+00');
INSERT INTO public.knex_migrations_lock VALUES
	(1, 0);
INSERT INTO public.mark_keys VALUES
	(2, 'first', 89245125443585, 'n1000', '2026-11-22 03:30:28.231+00');
INSERT INTO public.operator_log OVERRIDING SYSTEM VALUE VALUES
	(1, '2026-11-22 03:30:27.376487+00', 'release', 'key.issue', 'key 1', '{"kind": "publishable", "domains": ["localhost"], "partner": 1}');
INSERT INTO public.opinions VALUES
	('n1000', 1, 89245125443585, '2026-11-22 03:30:28.231+00', '{"at": 1795318228231, "id": 89245125443585, "rule": "geolocated", "fuels": ["95"], "needed": 1, "prices": {"95": 62.5}, "remote": false, "status": "yes", "reporterId": 1}'),
	('n1001', 1, 89245125443586, '2026-11-22 03:30:28.413+00', '{"at": 1795318228413, "id": 89245125443586, "rule": "geolocated", "needed": 1, "remote": false, "status": "no", "reporterId": 1}');
INSERT INTO public.partners OVERRIDING SYSTEM VALUE VALUES
	(1, 'Consumer map', 1200, 500000, true, true, true, NULL, '2026-11-22 03:30:27.358233+00', '2026-11-22 03:30:27.358242+00'),
	(2, 'Test partner', 100000, 100000000, true, true, true, NULL, '2026-11-22 03:30:27.465067+00', '2026-11-22 03:30:27.470246+00');
INSERT INTO public.reporters OVERRIDING SYSTEM VALUE VALUES
	(1, '\xc97b2884a468306352256cfc4cf9e708b57a33792270a3be417a5205f4a261df', 2, NULL, '2026-11-22 03:30:28.231+00');
INSERT INTO public.station_status VALUES
	('n1000', '{"last": {"at": 1795318228231, "id": 89245125443585}, "next": null, "prices": [{"from": {"at": 1795318228231, "id": 89245125443585}, "grade": "95", "price": 62.5}], "seeded": null, "served": {"status": "yes", "details": {"queue": "", "limitL": null, "noCash": false, "fuelsNo": [], "fuelsNow": ["95"], "fuelCardsOnly": false}, "updated": 1795318228231, "realCount": 1, "confirmations": 1}, "versions": [], "lastUpdated": 1795318228231, "publications": {"yes": {"at": 1795318228231, "id": 89245125443585}}}', 'yes', '2026-11-23 03:30:28.231+00', false, '2026-11-22 03:30:28.343831+00'),
	('n1001', '{"last": {"at": 1795318228413, "id": 89245125443586}, "next": null, "prices": [], "seeded": null, "served": {"status": "no", "details": {"queue": "", "limitL": null, "noCash": false, "fuelsNo": [], "fuelsNow": [], "fuelCardsOnly": false}, "updated": 1795318228413, "realCount": 1, "confirmations": 1}, "versions": [], "lastUpdated": 1795318228413, "publications": {"no": {"at": 1795318228413, "id": 89245125443586}}}', 'no', '2026-11-23 03:30:28.413+00', false, '2026-11-22 03:30:28.434841+00');
INSERT INTO public.stations VALUES
	('n1000', 'test', 55, 37, 'Brand', 'Station n1000', 'Street 1', NULL, '2026-11-22 03:30:27.496085+00', '2026-11-22 03:30:27.496091+00'),
	('n1001', 'test', 55.0027, 37, 'Brand', 'Station n1001', 'Street 1', NULL, '2026-11-22 03:30:27.496534+00', '2026-11-22 03:30:27.496536+00'),
	('n1002', 'test', 55.0054, 37, 'Brand', 'Station n1002', 'Street 1', NULL, '2026-11-22 03:30:27.496545+00', '2026-11-22 03:30:27.496545+00');
SELECT pg_catalog.setval('public.change_seq', 5, true);
SELECT pg_catalog.setval('public.imports_id_seq', 1, false);
SELECT pg_catalog.setval('public.keys_id_seq', 3, true);
SELECT pg_catalog.setval('public.knex_migrations_id_seq', 9, true);
SELECT pg_catalog.setval('public.knex_migrations_lock_index_seq', 1, true);
SELECT pg_catalog.setval('public.limit_requests_id_seq', 1, false);
SELECT pg_catalog.setval('public.mark_seq', 2, true);
SELECT pg_catalog.setval('public.operator_log_id_seq', 1, true);
SELECT pg_catalog.setval('public.operators_id_seq', 1, false);
SELECT pg_catalog.setval('public.partners_id_seq', 2, true);
SELECT pg_catalog.setval('public.reporters_id_seq', 1, true);
SELECT pg_catalog.setval('public.sessions_id_seq', 1, false);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (station_id);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_seq_key UNIQUE (seq);
ALTER TABLE ONLY public.cities
    ADD CONSTRAINT cities_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.knex_migrations_lock
    ADD CONSTRAINT knex_migrations_lock_pkey PRIMARY KEY (index);
ALTER TABLE ONLY public.knex_migrations
    ADD CONSTRAINT knex_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.limit_requests
    ADD CONSTRAINT limit_requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.mark_keys
    ADD CONSTRAINT mark_keys_pkey PRIMARY KEY (partner_id, external_id);
ALTER TABLE ONLY public.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_log
    ADD CONSTRAINT operator_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_key_hash_key UNIQUE (key_hash);
ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.opinions
    ADD CONSTRAINT opinions_pkey PRIMARY KEY (station_id, reporter_id);
ALTER TABLE ONLY public.partners
    ADD CONSTRAINT partners_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.reporters
    ADD CONSTRAINT reporters_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.reporters
    ADD CONSTRAINT reporters_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT seeds_pkey PRIMARY KEY (station_id, imported_at);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.station_status
    ADD CONSTRAINT station_status_pkey PRIMARY KEY (station_id);
ALTER TABLE ONLY public.stations
    ADD CONSTRAINT stations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.usage_batches
    ADD CONSTRAINT usage_batches_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (partner_id, day, audience, method);
CREATE INDEX keys_partner ON public.keys USING btree (partner_id);
CREATE UNIQUE INDEX limit_requests_one_pending ON public.limit_requests USING btree (partner_id) WHERE (status = 'pending'::text);
CREATE INDEX mark_keys_at ON public.mark_keys USING btree (at);
CREATE INDEX marks_held ON ONLY public.marks USING btree (id) WHERE (review = 'held'::text);
CREATE INDEX marks_key ON ONLY public.marks USING btree (key_id, received_at);
CREATE INDEX marks_newcomers_no ON ONLY public.marks USING btree (received_at) WHERE (newcomer AND (status = 'no'::text));
CREATE INDEX marks_reporter ON ONLY public.marks USING btree (reporter_id, received_at);
CREATE INDEX marks_station ON ONLY public.marks USING btree (station_id, effective_at);
CREATE INDEX marks_unprocessed ON ONLY public.marks USING btree (station_id) WHERE (processed_at IS NULL);
CREATE INDEX operator_log_at ON public.operator_log USING btree (at);
CREATE UNIQUE INDEX operators_name ON public.operators USING btree (lower(name));
CREATE INDEX reporters_new ON public.reporters USING btree (partner_id, first_seen);
CREATE INDEX reporters_new_viewer ON public.reporters USING btree (viewer, first_seen) WHERE (viewer IS NOT NULL);
CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_subject ON public.sessions USING btree (kind, subject_id);
CREATE INDEX station_status_next ON public.station_status USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX station_status_refold ON public.station_status USING btree (station_id) WHERE refold;
CREATE INDEX stations_source ON public.stations USING btree (source);
SET search_path = public;
SELECT ensure_mark_partitions('2026-11-20', 10);
INSERT INTO public.marks_20261122 VALUES
	(89245125443585, 'n1000', 1, 2, 2, 'partner', NULL, 'first', 'yes', '2026-11-22 03:30:28.231+00', '2026-11-22 03:30:28.231+00', 55, 37, NULL, false, '{95}', NULL, NULL, '{"95": 62.5}', NULL, false, NULL, NULL, NULL, false, 1, 'geolocated', true, 'none', '2026-11-22 03:30:28.343284+00', 'published', 'yes', 'published', 1, NULL, NULL),
	(89245125443586, 'n1001', 1, 2, 2, 'partner', NULL, NULL, 'no', '2026-11-22 03:30:28.413+00', '2026-11-22 03:30:28.413+00', 55.0027, 37, NULL, false, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, 'пусто', false, 1, 'geolocated', true, 'none', '2026-11-22 03:30:28.434638+00', 'published', 'no', 'published', 1, NULL, NULL);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_station_id_fkey FOREIGN KEY (station_id) REFERENCES public.stations(id);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(id);
ALTER TABLE ONLY public.limit_requests
    ADD CONSTRAINT limit_requests_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(id);
ALTER TABLE ONLY public.mark_keys
    ADD CONSTRAINT mark_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(id);
ALTER TABLE ONLY public.opinions
    ADD CONSTRAINT opinions_reporter_id_fkey FOREIGN KEY (reporter_id) REFERENCES public.reporters(id);
ALTER TABLE ONLY public.opinions
    ADD CONSTRAINT opinions_station_id_fkey FOREIGN KEY (station_id) REFERENCES public.stations(id);
ALTER TABLE ONLY public.reporters
    ADD CONSTRAINT reporters_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(id);
ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT seeds_station_id_fkey FOREIGN KEY (station_id) REFERENCES public.stations(id);
ALTER TABLE ONLY public.station_status
    ADD CONSTRAINT station_status_station_id_fkey FOREIGN KEY (station_id) REFERENCES public.stations(id);
ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(id);
