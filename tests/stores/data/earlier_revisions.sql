-- The schema as its first nineteen revisions made it, each below its number: what data folders of those versions hold.
-- "guard TABLE: RIGHTS" stands for row-level security on the table and the grant; 0002 also made the job queue's tables.
-- revision 0001
CREATE EXTENSION IF NOT EXISTS vector;
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'fivefold_app') THEN
        CREATE ROLE fivefold_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'fivefold_app', 'SET') THEN
        EXECUTE format('GRANT fivefold_app TO %I', current_user);
    END IF;
END $$;
CREATE TABLE tenants (
    tenant_id text PRIMARY KEY CHECK (tenant_id <> ''),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE SEQUENCE documents_id_seq AS bigint;
CREATE TABLE documents (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('documents_id_seq'),
    name text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'ready', 'failed')),
    uploaded_at timestamptz NOT NULL,
    media_type text NOT NULL,
    paged boolean NOT NULL,
    title text NOT NULL,
    project text,
    source_type text NOT NULL,
    labels jsonb NOT NULL,
    date timestamptz,
    tags text[] NOT NULL,
    pages integer NOT NULL,
    passages integer NOT NULL,
    warnings text[] NOT NULL,
    step text NOT NULL,
    failure text NOT NULL,
    remedy text NOT NULL,
    archived boolean NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE documents_id_seq OWNED BY documents.id;
CREATE UNIQUE INDEX documents_living_bytes ON documents (tenant_id, sha256, project)
    NULLS NOT DISTINCT WHERE NOT archived;
CREATE INDEX documents_newest ON documents (tenant_id, uploaded_at DESC, id DESC);
CREATE TABLE pages (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    number integer NOT NULL,
    text text NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (tenant_id, document_id, number),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE SEQUENCE knowledge_chunks_id_seq AS bigint;
CREATE TABLE knowledge_chunks (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('knowledge_chunks_id_seq'),
    document_id bigint NOT NULL,
    document_name text NOT NULL,
    position integer NOT NULL,
    page integer NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    text text NOT NULL,
    sentences integer[] NOT NULL,
    section text NOT NULL,
    context text NOT NULL,
    table_rows integer[],
    truth text,
    truth_probability double precision NOT NULL,
    evidence jsonb NOT NULL,
    domain text,
    authority text,
    jurisdiction text,
    date timestamptz,
    temporal_class text,
    source_type text NOT NULL,
    origin text NOT NULL,
    sector text,
    table_role text,
    project text,
    tags text[] NOT NULL,
    entities text[] NOT NULL,
    keywords text[] NOT NULL,
    archived boolean NOT NULL,
    embedding vector,
    embedded_by text,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE knowledge_chunks_id_seq OWNED BY knowledge_chunks.id;
CREATE INDEX knowledge_chunks_reading_order ON knowledge_chunks (tenant_id, document_id, position);
CREATE SEQUENCE corrections_id_seq AS bigint;
CREATE TABLE corrections (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('corrections_id_seq'),
    sha256 text NOT NULL,
    field text NOT NULL,
    value text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE corrections_id_seq OWNED BY corrections.id;
CREATE INDEX corrections_of_bytes ON corrections (tenant_id, sha256, field, id DESC);
CREATE SEQUENCE searches_id_seq AS bigint;
CREATE TABLE searches (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('searches_id_seq'),
    question text NOT NULL,
    hits integer NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE searches_id_seq OWNED BY searches.id;
CREATE INDEX searches_newest ON searches (tenant_id, id DESC);
ALTER TABLE knowledge_chunks ALTER COLUMN embedding SET STORAGE MAIN;
-- guard tenants: SELECT, INSERT
-- guard documents: SELECT, INSERT, UPDATE, DELETE
-- guard pages: SELECT, INSERT, UPDATE, DELETE
-- guard knowledge_chunks: SELECT, INSERT, UPDATE, DELETE
-- guard corrections: SELECT, INSERT
-- guard searches: SELECT, INSERT
GRANT USAGE ON SEQUENCE documents_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE knowledge_chunks_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE corrections_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE searches_id_seq TO fivefold_app;
-- revision 0002
-- revision 0003
CREATE INDEX IF NOT EXISTS knowledge_chunks_filters ON knowledge_chunks (tenant_id, id) INCLUDE (archived, embedded_by, document_id, date, truth, domain, authority, jurisdiction, temporal_class, source_type, origin, sector, project);
-- revision 0004
CREATE SEQUENCE topics_id_seq AS bigint;
CREATE TABLE topics (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('topics_id_seq'),
    project text,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE topics_id_seq OWNED BY topics.id;
CREATE UNIQUE INDEX topics_living_names ON topics (tenant_id, project, lower(name)) NULLS NOT DISTINCT
    WHERE NOT retired;
CREATE SEQUENCE coverage_runs_id_seq AS bigint;
CREATE TABLE coverage_runs (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('coverage_runs_id_seq'),
    project text,
    state text NOT NULL,
    finished_at timestamptz,
    data jsonb NOT NULL,
    corpus jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE coverage_runs_id_seq OWNED BY coverage_runs.id;
CREATE INDEX coverage_runs_newest ON coverage_runs (tenant_id, project, id DESC);
CREATE TABLE cells (
    tenant_id text NOT NULL,
    run_id bigint NOT NULL,
    topic_id bigint NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    score double precision NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, run_id, topic_id, kind),
    FOREIGN KEY (tenant_id, run_id) REFERENCES coverage_runs (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX cells_of_topic ON cells (tenant_id, topic_id, kind);
CREATE SEQUENCE decisions_id_seq AS bigint;
CREATE TABLE decisions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('decisions_id_seq'),
    project text,
    topic_id bigint NOT NULL,
    kind text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    at timestamptz NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE decisions_id_seq OWNED BY decisions.id;
CREATE UNIQUE INDEX decisions_count ON decisions (tenant_id, project, topic_id, kind, number) NULLS NOT DISTINCT;
-- guard topics: SELECT, INSERT, UPDATE
-- guard coverage_runs: SELECT, INSERT, UPDATE, DELETE
-- guard cells: SELECT, INSERT, UPDATE, DELETE
-- guard decisions: SELECT, INSERT
GRANT USAGE ON SEQUENCE topics_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE coverage_runs_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE decisions_id_seq TO fivefold_app;
-- revision 0005
CREATE SEQUENCE reality_tables_id_seq AS bigint;
CREATE TABLE reality_tables (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('reality_tables_id_seq'),
    document_id bigint NOT NULL,
    name text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    current boolean NOT NULL,
    data jsonb NOT NULL,
    rejects jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE reality_tables_id_seq OWNED BY reality_tables.id;
CREATE UNIQUE INDEX reality_tables_versions ON reality_tables (tenant_id, name, version);
CREATE UNIQUE INDEX reality_tables_current ON reality_tables (tenant_id, name) WHERE current;
CREATE INDEX reality_tables_of_document ON reality_tables (tenant_id, document_id);
CREATE SEQUENCE sql_history_id_seq AS bigint;
CREATE TABLE sql_history (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('sql_history_id_seq'),
    at timestamptz NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE sql_history_id_seq OWNED BY sql_history.id;
CREATE INDEX sql_history_newest ON sql_history (tenant_id, id DESC);
-- guard reality_tables: SELECT, INSERT, UPDATE, DELETE
-- guard sql_history: SELECT, INSERT
GRANT USAGE ON SEQUENCE reality_tables_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE sql_history_id_seq TO fivefold_app;
-- revision 0006
CREATE TABLE score_profiles (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    data json NOT NULL,
    PRIMARY KEY (tenant_id, name, version)
);
CREATE SEQUENCE default_profiles_id_seq AS bigint;
CREATE TABLE default_profiles (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('default_profiles_id_seq'),
    project text,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE default_profiles_id_seq OWNED BY default_profiles.id;
CREATE INDEX default_profiles_latest ON default_profiles (tenant_id, project, id DESC);
CREATE SEQUENCE question_sets_id_seq AS bigint;
CREATE TABLE question_sets (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('question_sets_id_seq'),
    project text,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE question_sets_id_seq OWNED BY question_sets.id;
CREATE UNIQUE INDEX question_sets_living_names ON question_sets (tenant_id, project, name) NULLS NOT DISTINCT
    WHERE NOT retired;
CREATE SEQUENCE questions_id_seq AS bigint;
CREATE TABLE questions (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('questions_id_seq'),
    set_id bigint NOT NULL,
    key text NOT NULL,
    retired boolean NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, set_id) REFERENCES question_sets (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE questions_id_seq OWNED BY questions.id;
CREATE UNIQUE INDEX questions_of_set ON questions (tenant_id, set_id, id);
CREATE UNIQUE INDEX questions_living_keys ON questions (tenant_id, set_id, key) WHERE NOT retired;
CREATE SEQUENCE judgments_id_seq AS bigint;
CREATE TABLE judgments (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('judgments_id_seq'),
    set_id bigint NOT NULL,
    question_id bigint NOT NULL,
    unit text NOT NULL,
    who text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, set_id, question_id) REFERENCES questions (tenant_id, set_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE judgments_id_seq OWNED BY judgments.id;
CREATE INDEX judgments_latest ON judgments (tenant_id, set_id, question_id, unit, who, id DESC);
CREATE SEQUENCE experiments_id_seq AS bigint;
CREATE TABLE experiments (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('experiments_id_seq'),
    set_id bigint NOT NULL,
    data json NOT NULL,
    outcomes json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE experiments_id_seq OWNED BY experiments.id;
CREATE INDEX experiments_newest ON experiments (tenant_id, set_id, id DESC);
-- guard score_profiles: SELECT, INSERT
-- guard default_profiles: SELECT, INSERT
-- guard question_sets: SELECT, INSERT, UPDATE (project, name, retired, version, data)
-- guard questions: SELECT, INSERT, UPDATE (retired, data)
-- guard judgments: SELECT, INSERT
-- guard experiments: SELECT, INSERT, UPDATE (set_id, data, outcomes), DELETE
GRANT USAGE ON SEQUENCE default_profiles_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE question_sets_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE questions_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE judgments_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE experiments_id_seq TO fivefold_app;
-- revision 0007
ALTER TABLE knowledge_chunks ADD COLUMN meanings bytea NOT NULL DEFAULT '';
ALTER TABLE knowledge_chunks ALTER COLUMN meanings SET STORAGE EXTERNAL;
CREATE SEQUENCE words_id_seq AS bigint;
CREATE TABLE words (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    model text NOT NULL,
    stem text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('words_id_seq'),
    word text NOT NULL,
    codes bytea NOT NULL,
    PRIMARY KEY (tenant_id, model, stem)
);
ALTER SEQUENCE words_id_seq OWNED BY words.id;
CREATE INDEX words_newest ON words (tenant_id, model, id);
-- guard words: SELECT, INSERT
GRANT USAGE ON SEQUENCE words_id_seq TO fivefold_app;
-- revision 0008
CREATE TABLE library_changes (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    version uuid NOT NULL,
    changed_by bigint NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
CREATE INDEX library_changes_latest ON library_changes (tenant_id, changed_by);
ALTER TABLE knowledge_chunks NO FORCE ROW LEVEL SECURITY;
INSERT INTO library_changes
    SELECT tenant_id, document_id, gen_random_uuid(), pg_current_xact_id()::text::bigint
    FROM (SELECT DISTINCT tenant_id, document_id FROM knowledge_chunks) AS stored;
ALTER TABLE knowledge_chunks FORCE ROW LEVEL SECURITY;
CREATE FUNCTION note_library_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    tenant text;
    document bigint;
    ours bigint := pg_current_xact_id()::text::bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        tenant := OLD.tenant_id;
        document := OLD.document_id;
    ELSE
        tenant := NEW.tenant_id;
        document := NEW.document_id;
    END IF;
    IF NOT EXISTS (
        SELECT FROM library_changes AS noted
        WHERE noted.tenant_id = tenant AND noted.document_id = document AND noted.changed_by = ours
    ) THEN
        INSERT INTO library_changes (tenant_id, document_id, version, changed_by)
        SELECT known.tenant_id, document, gen_random_uuid(), ours FROM tenants AS known WHERE known.tenant_id = tenant
        ON CONFLICT ON CONSTRAINT library_changes_pkey
        DO UPDATE SET version = excluded.version, changed_by = excluded.changed_by;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON knowledge_chunks
    FOR EACH ROW EXECUTE FUNCTION note_library_change();
-- guard library_changes: SELECT, INSERT, UPDATE
-- revision 0009
CREATE TABLE document_entities (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    name text NOT NULL,
    spelling text NOT NULL,
    type text NOT NULL,
    folded text NOT NULL,
    passages bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, document_id, name, spelling),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX document_entities_spelled ON document_entities (tenant_id, folded);
-- guard document_entities: SELECT, INSERT, UPDATE, DELETE
-- revision 0010
ALTER TABLE documents ADD COLUMN origin text NOT NULL DEFAULT 'document';
CREATE SEQUENCE insights_id_seq AS bigint;
CREATE TABLE insights (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('insights_id_seq'),
    project text,
    sector text NOT NULL,
    tags text[] NOT NULL,
    words text NOT NULL,
    at timestamptz NOT NULL,
    deleted_at timestamptz,
    document_id bigint NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE insights_id_seq OWNED BY insights.id;
CREATE INDEX insights_newest ON insights (tenant_id, at DESC, id DESC);
CREATE INDEX insights_of_document ON insights (tenant_id, document_id);
CREATE SEQUENCE episodes_id_seq AS bigint;
CREATE TABLE episodes (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('episodes_id_seq'),
    project text,
    sector text NOT NULL,
    tags text[] NOT NULL,
    words text NOT NULL,
    at timestamptz NOT NULL,
    deleted_at timestamptz,
    document_id bigint NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE episodes_id_seq OWNED BY episodes.id;
CREATE INDEX episodes_newest ON episodes (tenant_id, at DESC, id DESC);
CREATE INDEX episodes_of_document ON episodes (tenant_id, document_id);
CREATE SEQUENCE links_id_seq AS bigint;
CREATE TABLE links (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('links_id_seq'),
    insight_id bigint,
    episode_id bigint,
    document_id bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, insight_id) REFERENCES insights (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES episodes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT links_of_one_memory CHECK (num_nonnulls(insight_id, episode_id) = 1)
);
ALTER SEQUENCE links_id_seq OWNED BY links.id;
CREATE INDEX links_of_insight ON links (tenant_id, insight_id);
CREATE INDEX links_of_episode ON links (tenant_id, episode_id);
CREATE INDEX links_to_document ON links (tenant_id, document_id);
-- guard insights: SELECT, INSERT, UPDATE (project, sector, tags, words, deleted_at, document_id, version, data)
-- guard episodes: SELECT, INSERT, UPDATE (project, sector, tags, words, deleted_at, document_id, version, data)
-- guard links: SELECT, INSERT, DELETE
GRANT USAGE ON SEQUENCE insights_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE episodes_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE links_id_seq TO fivefold_app;
-- revision 0011
CREATE SEQUENCE use_events_id_seq AS bigint;
CREATE TABLE use_events (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('use_events_id_seq'),
    kind text NOT NULL,
    document_id bigint NOT NULL,
    passage_id bigint NOT NULL,
    question text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE use_events_id_seq OWNED BY use_events.id;
CREATE INDEX use_events_of_document ON use_events (tenant_id, document_id, kind);
CREATE INDEX use_events_of_question ON use_events (tenant_id, question, id) WHERE kind <> 'shown';
CREATE INDEX use_events_of_passage ON use_events (tenant_id, passage_id, id) WHERE kind <> 'shown';
CREATE TABLE document_uses (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    uses integer NOT NULL,
    last timestamptz,
    questions text[] NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
CREATE SEQUENCE saved_views_id_seq AS bigint;
CREATE TABLE saved_views (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('saved_views_id_seq'),
    project text,
    owner text NOT NULL,
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE saved_views_id_seq OWNED BY saved_views.id;
CREATE UNIQUE INDEX saved_views_living_names ON saved_views (tenant_id, project, owner, name) NULLS NOT DISTINCT
    WHERE NOT retired;
CREATE TABLE view_looks (
    tenant_id text NOT NULL,
    who text NOT NULL,
    view_id bigint NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, who, view_id),
    FOREIGN KEY (tenant_id, view_id) REFERENCES saved_views (tenant_id, id) ON DELETE CASCADE
);
-- guard use_events: SELECT, INSERT, DELETE
-- guard document_uses: SELECT, INSERT, UPDATE (uses, last, questions), DELETE
-- guard saved_views: SELECT, INSERT, UPDATE (project, owner, name, retired, version, data)
-- guard view_looks: SELECT, INSERT, UPDATE (at, data)
GRANT USAGE ON SEQUENCE use_events_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE saved_views_id_seq TO fivefold_app;
-- revision 0012
ALTER TABLE documents
    ADD COLUMN owner text NOT NULL DEFAULT '',
    ADD COLUMN url text NOT NULL DEFAULT '',
    ADD COLUMN parent bigint,
    ADD COLUMN version_of bigint,
    ADD COLUMN readable text NOT NULL DEFAULT '';
-- revision 0013
CREATE SEQUENCE change_sets_id_seq AS bigint;
CREATE TABLE change_sets (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('change_sets_id_seq'),
    at timestamptz NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    undone_at timestamptz,
    undone_by text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE change_sets_id_seq OWNED BY change_sets.id;
CREATE TABLE changes (
    tenant_id text NOT NULL,
    set_id bigint NOT NULL,
    position integer NOT NULL,
    document_id bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, set_id, position),
    FOREIGN KEY (tenant_id, set_id) REFERENCES change_sets (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX changes_of_document ON changes (tenant_id, document_id, set_id);
-- guard change_sets: SELECT, INSERT, UPDATE (undone_at, undone_by)
-- guard changes: SELECT, INSERT
GRANT USAGE ON SEQUENCE change_sets_id_seq TO fivefold_app;
-- revision 0014
CREATE TABLE enrichments (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    operation text NOT NULL,
    version integer NOT NULL,
    reading bigint NOT NULL,
    at timestamptz NOT NULL,
    problem text NOT NULL,
    hint text NOT NULL,
    data json,
    PRIMARY KEY (tenant_id, document_id, operation),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE TABLE enrichment_edits (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    operation text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, document_id, operation),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
-- guard enrichments: SELECT, INSERT, UPDATE (version, reading, at, problem, hint, data), DELETE
-- guard enrichment_edits: SELECT, INSERT, UPDATE (data), DELETE
-- revision 0015
CREATE TABLE vocabularies (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    number integer NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, number)
);
CREATE SEQUENCE vocabulary_applications_id_seq AS bigint;
CREATE TABLE vocabulary_applications (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('vocabulary_applications_id_seq'),
    version integer NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    total integer NOT NULL,
    until bigint NOT NULL,
    done integer NOT NULL,
    changed integer NOT NULL,
    reached bigint NOT NULL,
    stopped boolean NOT NULL,
    ended timestamptz,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE vocabulary_applications_id_seq OWNED BY vocabulary_applications.id;
-- guard vocabularies: SELECT, INSERT
-- guard vocabulary_applications: SELECT, INSERT, UPDATE (done, changed, reached, stopped, ended)
GRANT USAGE ON SEQUENCE vocabulary_applications_id_seq TO fivefold_app;
-- revision 0016
CREATE TABLE lesson_records (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    model text NOT NULL,
    data json NOT NULL,
    mean bytea NOT NULL,
    segments bytea NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE TABLE lesson_versions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    number integer NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, number)
);
CREATE SEQUENCE lesson_acts_id_seq AS bigint;
CREATE TABLE lesson_acts (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('lesson_acts_id_seq'),
    number bigint NOT NULL,
    kind text NOT NULL,
    version integer NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    moves json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE lesson_acts_id_seq OWNED BY lesson_acts.id;
CREATE INDEX lesson_acts_of_application ON lesson_acts (tenant_id, number, id);
CREATE SEQUENCE label_verdicts_id_seq AS bigint;
CREATE TABLE label_verdicts (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('label_verdicts_id_seq'),
    document_id bigint NOT NULL,
    sha256 text NOT NULL,
    field text NOT NULL,
    said text NOT NULL,
    who text NOT NULL,
    at timestamptz NOT NULL,
    given text,
    automatic boolean NOT NULL,
    move json,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE label_verdicts_id_seq OWNED BY label_verdicts.id;
CREATE INDEX label_verdicts_of_label ON label_verdicts (tenant_id, document_id, field, id);
-- guard lesson_records: SELECT, INSERT, UPDATE (model, data, mean, segments), DELETE
-- guard lesson_versions: SELECT, INSERT
-- guard lesson_acts: SELECT, INSERT
-- guard label_verdicts: SELECT, INSERT
GRANT USAGE ON SEQUENCE lesson_acts_id_seq TO fivefold_app;
GRANT USAGE ON SEQUENCE label_verdicts_id_seq TO fivefold_app;
-- revision 0017
CREATE TABLE failed_work (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind text NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    reason text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, kind, number)
);
CREATE TABLE readings (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    ended timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX readings_newest ON readings (tenant_id, ended);
CREATE SEQUENCE watched_folders_id_seq AS bigint;
CREATE TABLE watched_folders (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('watched_folders_id_seq'),
    path text NOT NULL,
    project text,
    tags text[] NOT NULL,
    looked timestamptz,
    failure text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE watched_folders_id_seq OWNED BY watched_folders.id;
CREATE UNIQUE INDEX watched_folders_once ON watched_folders (tenant_id, path);
CREATE TABLE watched_files (
    tenant_id text NOT NULL,
    folder_id bigint NOT NULL,
    path text NOT NULL,
    size bigint NOT NULL,
    modified bigint NOT NULL,
    moving boolean NOT NULL,
    sha256 text NOT NULL,
    document_id bigint,
    failure text NOT NULL,
    remedy text NOT NULL,
    PRIMARY KEY (tenant_id, folder_id, path),
    FOREIGN KEY (tenant_id, folder_id) REFERENCES watched_folders (tenant_id, id) ON DELETE CASCADE
);
CREATE SEQUENCE feeds_id_seq AS bigint;
CREATE TABLE feeds (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('feeds_id_seq'),
    url text NOT NULL,
    project text,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE feeds_id_seq OWNED BY feeds.id;
CREATE UNIQUE INDEX feeds_once ON feeds (tenant_id, url, project) NULLS NOT DISTINCT;
CREATE TABLE feed_entries (
    tenant_id text NOT NULL,
    feed_id bigint NOT NULL,
    key text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (tenant_id, feed_id, key),
    FOREIGN KEY (tenant_id, feed_id) REFERENCES feeds (tenant_id, id) ON DELETE CASCADE
);
GRANT USAGE ON SEQUENCE watched_folders_id_seq, feeds_id_seq TO fivefold_app;
-- guard failed_work: SELECT, INSERT, UPDATE (at, reason, remedy), DELETE
-- guard readings: SELECT, INSERT, UPDATE (ended), DELETE
-- guard watched_folders: SELECT, INSERT, UPDATE (project, tags, looked, failure, remedy), DELETE
-- guard watched_files: SELECT, INSERT, UPDATE (size, modified, moving, sha256, document_id, failure, remedy), DELETE
-- guard feeds: SELECT, INSERT, UPDATE (project, data), DELETE
-- guard feed_entries: SELECT, INSERT, UPDATE (digest), DELETE
-- revision 0018
CREATE TABLE signatures (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    triples integer NOT NULL,
    minima bytea NOT NULL,
    name_key text NOT NULL,
    title_key text NOT NULL,
    url text NOT NULL,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX signatures_named ON signatures (tenant_id, name_key) WHERE name_key <> '';
CREATE INDEX signatures_titled ON signatures (tenant_id, title_key) WHERE title_key <> '';
CREATE INDEX signatures_from ON signatures (tenant_id, url) WHERE url <> '';
CREATE TABLE signature_buckets (
    tenant_id text NOT NULL,
    bucket bigint NOT NULL,
    document_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, bucket, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE
);
CREATE INDEX signature_buckets_of_document ON signature_buckets (tenant_id, document_id);
CREATE TABLE document_pairs (
    tenant_id text NOT NULL,
    first bigint NOT NULL,
    second bigint NOT NULL,
    same double precision NOT NULL,
    first_kept double precision NOT NULL,
    second_kept double precision NOT NULL,
    suggested boolean NOT NULL,
    PRIMARY KEY (tenant_id, first, second),
    FOREIGN KEY (tenant_id, first) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, second) REFERENCES signatures (tenant_id, document_id) ON DELETE CASCADE,
    CONSTRAINT document_pairs_in_order CHECK (first < second)
);
CREATE INDEX document_pairs_of_second ON document_pairs (tenant_id, second);
CREATE SEQUENCE version_decisions_id_seq AS bigint;
CREATE TABLE version_decisions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('version_decisions_id_seq'),
    one text NOT NULL,
    other text NOT NULL,
    number integer NOT NULL,
    verdict text NOT NULL,
    at timestamptz NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE version_decisions_id_seq OWNED BY version_decisions.id;
CREATE UNIQUE INDEX version_decisions_counted ON version_decisions (tenant_id, one, other, number);
CREATE INDEX documents_replaced ON documents (tenant_id, version_of) WHERE version_of IS NOT NULL;
-- guard signatures: SELECT, INSERT, UPDATE (triples, minima, name_key, title_key, url), DELETE
-- guard signature_buckets: SELECT, INSERT, DELETE
-- guard document_pairs: SELECT, INSERT, UPDATE (same, first_kept, second_kept, suggested), DELETE
-- guard version_decisions: SELECT, INSERT
GRANT USAGE ON SEQUENCE version_decisions_id_seq TO fivefold_app;
-- revision 0019
ALTER TABLE documents ADD COLUMN cure text NOT NULL DEFAULT 'again';
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
UPDATE documents SET cure = 'password' WHERE state = 'failed' AND failure LIKE '%is protected by a password.';
ALTER TABLE documents FORCE ROW LEVEL SECURITY;

-- revision 0022
CREATE TABLE embedding_models (
    tenant_id text NOT NULL PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    model text NOT NULL,
    name text NOT NULL,
    switch json
);
CREATE TABLE prepared_vectors (
    tenant_id text NOT NULL,
    passage_id bigint NOT NULL,
    model text NOT NULL,
    embedding vector,
    meanings bytea NOT NULL,
    PRIMARY KEY (tenant_id, passage_id, model),
    FOREIGN KEY (tenant_id, passage_id) REFERENCES knowledge_chunks (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE prepared_vectors ALTER COLUMN meanings SET STORAGE EXTERNAL;
GRANT DELETE ON words TO fivefold_app;
-- guard embedding_models: SELECT, INSERT, UPDATE
-- guard prepared_vectors: SELECT, INSERT, UPDATE, DELETE
-- revision 0024
ALTER TABLE knowledge_chunks ADD COLUMN possible_labels text[] NOT NULL DEFAULT '{}';
-- revision 0025
CREATE SEQUENCE shortlists_id_seq AS bigint;
CREATE TABLE shortlists (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('shortlists_id_seq'),
    name text NOT NULL,
    retired boolean NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE shortlists_id_seq OWNED BY shortlists.id;
CREATE UNIQUE INDEX shortlists_living_names ON shortlists (tenant_id, name) WHERE NOT retired;
-- guard shortlists: SELECT, INSERT, UPDATE (name, retired, version, data)
GRANT USAGE ON SEQUENCE shortlists_id_seq TO fivefold_app;
-- revision 0026
ALTER TABLE change_sets ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
ALTER TABLE use_events ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
ALTER TABLE changes ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
ALTER TABLE searches ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
ALTER TABLE sql_history ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
ALTER TABLE shortlists ADD COLUMN login text NOT NULL DEFAULT COALESCE(current_setting('fivefold.login', true), '');
CREATE SEQUENCE meetings_id_seq AS bigint;
CREATE TABLE meetings (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('meetings_id_seq'),
    project text,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE meetings_id_seq OWNED BY meetings.id;
CREATE INDEX meetings_newest ON meetings (tenant_id, project, id DESC);
-- guard meetings: SELECT, INSERT, UPDATE (version, data)
GRANT USAGE ON SEQUENCE meetings_id_seq TO fivefold_app;
CREATE TABLE meeting_attendees (
    tenant_id text NOT NULL,
    meeting_id bigint NOT NULL,
    person text NOT NULL,
    name text NOT NULL,
    joined_at timestamptz NOT NULL,
    beat_at timestamptz NOT NULL,
    present boolean NOT NULL,
    PRIMARY KEY (tenant_id, meeting_id, person),
    FOREIGN KEY (tenant_id, meeting_id) REFERENCES meetings (tenant_id, id) ON DELETE CASCADE
);
-- guard meeting_attendees: SELECT, INSERT, UPDATE (beat_at, present)
CREATE SEQUENCE meeting_contributions_id_seq AS bigint;
CREATE TABLE meeting_contributions (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('meeting_contributions_id_seq'),
    meeting_id bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, meeting_id) REFERENCES meetings (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE meeting_contributions_id_seq OWNED BY meeting_contributions.id;
CREATE INDEX meeting_contributions_of_meeting ON meeting_contributions (tenant_id, meeting_id, id);
-- guard meeting_contributions: SELECT, INSERT, UPDATE (data)
GRANT USAGE ON SEQUENCE meeting_contributions_id_seq TO fivefold_app;
CREATE POLICY meetings_of_scope ON meetings AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY meeting_attendees_of_scope ON meeting_attendees AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (meeting_id IN (SELECT id FROM meetings))
);
CREATE POLICY meeting_contributions_of_scope ON meeting_contributions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (meeting_id IN (SELECT id FROM meetings))
);
CREATE SEQUENCE people_id_seq AS bigint;
CREATE TABLE people (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('people_id_seq'),
    login text NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE people_id_seq OWNED BY people.id;
CREATE UNIQUE INDEX people_logins ON people (tenant_id, login);
-- guard people: SELECT, INSERT, UPDATE (version, data)
GRANT USAGE ON SEQUENCE people_id_seq TO fivefold_app;
CREATE SEQUENCE api_tokens_id_seq AS bigint;
CREATE TABLE api_tokens (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('api_tokens_id_seq'),
    name text NOT NULL,
    login text NOT NULL,
    role text NOT NULL,
    digest text NOT NULL,
    created timestamptz NOT NULL,
    expires timestamptz,
    revoked timestamptz,
    last_used timestamptz,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE api_tokens_id_seq OWNED BY api_tokens.id;
CREATE UNIQUE INDEX api_tokens_digests ON api_tokens (tenant_id, digest);
-- guard api_tokens: SELECT, INSERT, UPDATE (revoked, last_used)
GRANT USAGE ON SEQUENCE api_tokens_id_seq TO fivefold_app;
CREATE SEQUENCE audit_log_id_seq AS bigint;
CREATE TABLE audit_log (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('audit_log_id_seq'),
    at timestamptz NOT NULL,
    login text NOT NULL,
    name text NOT NULL,
    door text NOT NULL,
    action text NOT NULL,
    object text NOT NULL,
    project text,
    outcome text NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE audit_log_id_seq OWNED BY audit_log.id;
CREATE INDEX audit_log_newest ON audit_log (tenant_id, id DESC);
-- guard audit_log: SELECT, INSERT
GRANT USAGE ON SEQUENCE audit_log_id_seq TO fivefold_app;
CREATE TABLE idempotent_requests (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    login text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    at timestamptz NOT NULL,
    status integer NOT NULL,
    reply json NOT NULL,
    PRIMARY KEY (tenant_id, login, key)
);
-- guard idempotent_requests: SELECT, INSERT, UPDATE, DELETE
CREATE POLICY idempotent_requests_of_scope ON idempotent_requests AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true))
);
CREATE POLICY change_sets_of_scope ON change_sets AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true) OR id IN (SELECT set_id FROM changes))
);
CREATE POLICY corrections_of_scope ON corrections AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (sha256 IN (SELECT sha256 FROM documents))
);
CREATE POLICY coverage_runs_of_scope ON coverage_runs AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY decisions_of_scope ON decisions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY default_profiles_of_scope ON default_profiles AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY document_uses_of_scope ON document_uses AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY documents_of_scope ON documents AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY episodes_of_scope ON episodes AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND NOT EXISTS (SELECT FROM links WHERE links.tenant_id = episodes.tenant_id AND links.episode_id = episodes.id AND links.document_id NOT IN (SELECT id FROM documents)))
);
CREATE POLICY experiments_of_scope ON experiments AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (set_id IN (SELECT id FROM question_sets))
);
CREATE POLICY feeds_of_scope ON feeds AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY insights_of_scope ON insights AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND NOT EXISTS (SELECT FROM links WHERE links.tenant_id = insights.tenant_id AND links.insight_id = insights.id AND links.document_id NOT IN (SELECT id FROM documents)))
);
CREATE POLICY label_verdicts_of_scope ON label_verdicts AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY lesson_acts_of_scope ON lesson_acts AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (false)
);
CREATE POLICY lesson_versions_of_scope ON lesson_versions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (false)
);
CREATE POLICY question_sets_of_scope ON question_sets AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY saved_views_of_scope ON saved_views AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY searches_of_scope ON searches AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true))
);
CREATE POLICY shortlists_of_scope ON shortlists AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true) OR NOT EXISTS (SELECT FROM json_array_elements(data -> 'items') AS item WHERE (item ->> 'document_id')::bigint NOT IN (SELECT id FROM documents)))
);
CREATE POLICY sql_history_of_scope ON sql_history AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true))
);
CREATE POLICY topics_of_scope ON topics AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND (data #>> '{source,document_id}' IS NULL OR (data #>> '{source,document_id}')::bigint IN (SELECT id FROM documents)))
);
CREATE POLICY use_events_of_scope ON use_events AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents) AND login = current_setting('fivefold.login', true))
);
CREATE POLICY version_decisions_of_scope ON version_decisions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (one IN (SELECT sha256 FROM documents) AND other IN (SELECT sha256 FROM documents))
);
CREATE POLICY watched_folders_of_scope ON watched_folders AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY cells_of_scope ON cells AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (run_id IN (SELECT id FROM coverage_runs))
);
CREATE POLICY changes_of_scope ON changes AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true) OR document_id IN (SELECT id FROM documents))
);
CREATE POLICY document_entities_of_scope ON document_entities AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY enrichment_edits_of_scope ON enrichment_edits AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY enrichments_of_scope ON enrichments AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY feed_entries_of_scope ON feed_entries AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (feed_id IN (SELECT id FROM feeds))
);
CREATE POLICY knowledge_chunks_of_scope ON knowledge_chunks AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE POLICY lesson_records_of_scope ON lesson_records AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY pages_of_scope ON pages AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY questions_of_scope ON questions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (set_id IN (SELECT id FROM question_sets))
);
CREATE POLICY readings_of_scope ON readings AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY reality_tables_of_scope ON reality_tables AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY signatures_of_scope ON signatures AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE POLICY view_looks_of_scope ON view_looks AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (view_id IN (SELECT id FROM saved_views))
);
CREATE POLICY watched_files_of_scope ON watched_files AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (folder_id IN (SELECT id FROM watched_folders))
);
CREATE POLICY document_pairs_of_scope ON document_pairs AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (first IN (SELECT id FROM documents) AND second IN (SELECT id FROM documents))
);
CREATE POLICY judgments_of_scope ON judgments AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (set_id IN (SELECT id FROM question_sets))
);
CREATE POLICY prepared_vectors_of_scope ON prepared_vectors AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (passage_id IN (SELECT id FROM knowledge_chunks))
);
CREATE POLICY signature_buckets_of_scope ON signature_buckets AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents))
);
CREATE SEQUENCE comments_id_seq AS bigint;
CREATE TABLE comments (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('comments_id_seq'),
    document_id bigint,
    project text,
    about text NOT NULL,
    author text NOT NULL,
    at timestamptz NOT NULL,
    deleted_at timestamptz,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE comments_id_seq OWNED BY comments.id;
CREATE INDEX comments_about ON comments (tenant_id, about);
-- guard comments: SELECT, INSERT, UPDATE (deleted_at, version, data)
GRANT USAGE ON SEQUENCE comments_id_seq TO fivefold_app;
CREATE POLICY comments_of_scope ON comments AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents) OR (document_id IS NULL AND project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))))
);
CREATE SEQUENCE assignments_id_seq AS bigint;
CREATE TABLE assignments (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('assignments_id_seq'),
    document_id bigint,
    project text,
    about text NOT NULL,
    given_to text NOT NULL,
    due date,
    done_at timestamptz,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE assignments_id_seq OWNED BY assignments.id;
CREATE INDEX assignments_about ON assignments (tenant_id, about);
CREATE INDEX assignments_open ON assignments (tenant_id, given_to) WHERE done_at IS NULL;
-- guard assignments: SELECT, INSERT, UPDATE (due, done_at, version, data)
GRANT USAGE ON SEQUENCE assignments_id_seq TO fivefold_app;
CREATE POLICY assignments_of_scope ON assignments AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents) OR (document_id IS NULL AND project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))))
);
CREATE SEQUENCE notifications_id_seq AS bigint;
CREATE TABLE notifications (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('notifications_id_seq'),
    document_id bigint,
    project text,
    about_search boolean NOT NULL,
    login text NOT NULL,
    subject text NOT NULL,
    at timestamptz NOT NULL,
    read_at timestamptz,
    mailed_at timestamptz,
    posted_at timestamptz,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE notifications_id_seq OWNED BY notifications.id;
CREATE UNIQUE INDEX notifications_subjects ON notifications (tenant_id, login, subject);
CREATE INDEX notifications_unmailed ON notifications (tenant_id, id) WHERE mailed_at IS NULL;
CREATE INDEX notifications_unposted ON notifications (tenant_id, id) WHERE posted_at IS NULL;
-- guard notifications: SELECT, INSERT, UPDATE, DELETE
GRANT USAGE ON SEQUENCE notifications_id_seq TO fivefold_app;
CREATE POLICY notifications_of_scope ON notifications AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT id FROM documents) OR (document_id IS NULL AND project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) OR (about_search AND login = current_setting('fivefold.login', true)))
);
CREATE TABLE notification_preferences (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    login text NOT NULL,
    mailed_at timestamptz,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, login)
);
-- guard notification_preferences: SELECT, INSERT, UPDATE (mailed_at, data)
CREATE POLICY notification_preferences_of_scope ON notification_preferences AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true))
);
CREATE SEQUENCE saved_search_alerts_id_seq AS bigint;
CREATE TABLE saved_search_alerts (
    tenant_id text NOT NULL,
    id bigint NOT NULL DEFAULT nextval('saved_search_alerts_id_seq'),
    view_id bigint NOT NULL,
    login text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, view_id) REFERENCES saved_views (tenant_id, id) ON DELETE CASCADE
);
ALTER SEQUENCE saved_search_alerts_id_seq OWNED BY saved_search_alerts.id;
CREATE UNIQUE INDEX saved_search_alerts_people ON saved_search_alerts (tenant_id, view_id, login);
-- guard saved_search_alerts: SELECT, INSERT, UPDATE (data), DELETE
GRANT USAGE ON SEQUENCE saved_search_alerts_id_seq TO fivefold_app;
CREATE POLICY saved_search_alerts_of_scope ON saved_search_alerts AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (view_id IN (SELECT id FROM saved_views))
);
-- revision 0027
CREATE SEQUENCE topic_revisions_id_seq AS bigint;
CREATE TABLE topic_revisions (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('topic_revisions_id_seq'),
    edit bigint NOT NULL,
    topic_id bigint NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
ALTER SEQUENCE topic_revisions_id_seq OWNED BY topic_revisions.id;
CREATE INDEX topic_revisions_newest ON topic_revisions (tenant_id, edit DESC);
-- guard topic_revisions: SELECT, INSERT
GRANT USAGE ON SEQUENCE topic_revisions_id_seq TO fivefold_app;
CREATE POLICY topic_revisions_of_scope ON topic_revisions AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (topic_id IN (SELECT id FROM topics))
);
-- revision 0028
DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['fivefold_purger', 'fivefold_queue'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', role);
        END IF;
        IF NOT pg_has_role(current_user, role, 'SET') THEN
            EXECUTE format('GRANT %I TO %I', role, current_user);
        END IF;
    END LOOP;
END $$;
CREATE TABLE trash (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    readable text NOT NULL,
    size_bytes bigint NOT NULL,
    project text,
    who text NOT NULL,
    at timestamptz NOT NULL,
    contents json NOT NULL,
    earlier bigint,
    later bigint,
    purging boolean NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
-- guard trash: SELECT, INSERT, UPDATE (contents, purging), DELETE
CREATE POLICY trash_of_scope ON trash AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE TABLE trash_contents (
    tenant_id text NOT NULL,
    document_id bigint NOT NULL,
    position integer NOT NULL,
    origin text NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (tenant_id, document_id, position),
    FOREIGN KEY (tenant_id, document_id) REFERENCES trash (tenant_id, document_id) ON DELETE CASCADE
);
-- guard trash_contents: SELECT, INSERT, DELETE
CREATE POLICY trash_contents_of_scope ON trash_contents AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (document_id IN (SELECT document_id FROM trash))
);
GRANT SELECT, UPDATE (data, corpus) ON coverage_runs TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON decisions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON default_profiles TO fivefold_purger;
GRANT SELECT, UPDATE (switch) ON embedding_models TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON episodes TO fivefold_purger;
GRANT SELECT, UPDATE (data, outcomes) ON experiments TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON feeds TO fivefold_purger;
GRANT SELECT, UPDATE (reply) ON idempotent_requests TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON insights TO fivefold_purger;
GRANT SELECT, UPDATE (move) ON label_verdicts TO fivefold_purger;
GRANT SELECT, UPDATE (moves) ON lesson_acts TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON lesson_versions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON meetings TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON notification_preferences TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON people TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON question_sets TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON saved_views TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON score_profiles TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON shortlists TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON sql_history TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON topics TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON topic_revisions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON version_decisions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON vocabularies TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON cells TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON changes TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON links TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON meeting_contributions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON questions TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON saved_search_alerts TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON view_looks TO fivefold_purger;
GRANT SELECT, UPDATE (data) ON judgments TO fivefold_purger;
GRANT SELECT (tenant_id, project, sha256, readable, id) ON documents TO fivefold_purger;
CREATE POLICY documents_of_purge ON documents FOR SELECT TO fivefold_purger USING (true);
GRANT SELECT (tenant_id, project, sha256, readable, purging) ON trash TO fivefold_purger;
CREATE POLICY trash_of_purge ON trash FOR SELECT TO fivefold_purger USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON procrastinate_workers, procrastinate_jobs, procrastinate_periodic_defers, procrastinate_events
    TO fivefold_queue;
GRANT USAGE ON SEQUENCE procrastinate_workers_id_seq, procrastinate_jobs_id_seq, procrastinate_periodic_defers_id_seq,
    procrastinate_events_id_seq TO fivefold_queue;
GRANT SELECT ON alembic_version TO fivefold_queue;

-- revision 0029
CREATE INDEX searches_of_person ON searches (tenant_id, login, id DESC);
DROP INDEX searches_newest;
GRANT DELETE ON searches TO fivefold_app;

-- revision 0030
ALTER TABLE documents ADD COLUMN sureness double precision GENERATED ALWAYS AS (CASE WHEN (labels -> 'truth' ->> 'confirmed')::boolean OR pages = 0 AND passages = 0 THEN 2.0 WHEN labels -> 'truth' ->> 'value' IS NULL THEN 0.0 ELSE (labels -> 'truth' ->> 'probability')::float END) STORED NOT NULL;
CREATE INDEX documents_by_state ON documents (tenant_id, state, sureness) INCLUDE (project) WHERE NOT archived AND origin = 'document';
CREATE INDEX signatures_by_name_key ON signatures (tenant_id, name_key, document_id) WHERE name_key <> '';
CREATE INDEX signatures_by_title_key ON signatures (tenant_id, title_key, document_id) WHERE title_key <> '';
CREATE INDEX signatures_by_url ON signatures (tenant_id, url, document_id) WHERE url <> '';
DROP INDEX signatures_named;
DROP INDEX signatures_titled;
DROP INDEX signatures_from;

-- revision 0031
CREATE TABLE document_projects (
    tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    document_id bigint NOT NULL,
    project text,
    purged boolean NOT NULL,
    PRIMARY KEY (tenant_id, document_id)
);
-- guard document_projects: SELECT, INSERT, UPDATE (project, purged)
GRANT SELECT (tenant_id, document_id, project) ON document_projects TO fivefold_purger;
CREATE POLICY document_projects_of_scope ON document_projects AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);
CREATE OR REPLACE FUNCTION note_document_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR NEW.project IS DISTINCT FROM OLD.project THEN
        INSERT INTO document_projects (tenant_id, document_id, project, purged)
        VALUES (NEW.tenant_id, NEW.id, NEW.project, false)
        ON CONFLICT ON CONSTRAINT document_projects_pkey DO UPDATE SET project = excluded.project;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_project AFTER INSERT OR UPDATE OF project ON documents
    FOR EACH ROW EXECUTE FUNCTION note_document_project();
CREATE OR REPLACE FUNCTION note_document_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE document_projects SET purged = true
    WHERE document_projects.tenant_id = NEW.tenant_id AND document_projects.document_id = NEW.document_id;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_purge AFTER UPDATE OF purging ON trash
    FOR EACH ROW WHEN (NEW.purging) EXECUTE FUNCTION note_document_purge();
DROP POLICY topics_of_scope ON topics;
DROP POLICY insights_of_scope ON insights;
DROP POLICY episodes_of_scope ON episodes;
DROP POLICY shortlists_of_scope ON shortlists;
CREATE POLICY topics_of_scope ON topics AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND (data #>> '{source,document_id}' IS NULL
        OR (data #>> '{source,document_id}')::bigint IN (SELECT document_id FROM document_projects)))
);
CREATE POLICY insights_of_scope ON insights AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND NOT EXISTS (SELECT FROM links WHERE links.tenant_id = insights.tenant_id
        AND links.insight_id = insights.id AND links.document_id NOT IN (SELECT document_id FROM document_projects)))
);
CREATE POLICY episodes_of_scope ON episodes AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR ((project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb)))) AND NOT EXISTS (SELECT FROM links WHERE links.tenant_id = episodes.tenant_id
        AND links.episode_id = episodes.id AND links.document_id NOT IN (SELECT document_id FROM document_projects)))
);
CREATE POLICY shortlists_of_scope ON shortlists AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true) OR NOT EXISTS (SELECT FROM json_array_elements(data -> 'items') AS item
        WHERE (item ->> 'document_id')::bigint NOT IN (SELECT document_id FROM document_projects)))
);

-- revision 0032
ALTER TABLE corrections ADD COLUMN project text;
CREATE OR REPLACE FUNCTION copy_corrections() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO corrections (tenant_id, project, sha256, field, value, who, at)
    SELECT NEW.tenant_id, NEW.project, latest.sha256, latest.field, latest.value, latest.who, latest.at FROM (
        SELECT DISTINCT ON (made.field) made.* FROM corrections AS made
        WHERE made.tenant_id = NEW.tenant_id AND made.sha256 = NEW.sha256
            AND made.project IS NOT DISTINCT FROM OLD.project
        ORDER BY made.field, made.id DESC
    ) AS latest
    WHERE latest.value = '' OR NEW.pages = 0 OR (NEW.labels -> latest.field ->> 'confirmed')::boolean;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER copy_corrections AFTER UPDATE OF project ON documents
    FOR EACH ROW WHEN (NEW.project IS DISTINCT FROM OLD.project) EXECUTE FUNCTION copy_corrections();
DROP POLICY corrections_of_scope ON corrections;
CREATE POLICY corrections_of_scope ON corrections AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (project IS NULL OR project = ANY (ARRAY(SELECT jsonb_array_elements_text(nullif(current_setting('fivefold.projects', true), '')::jsonb))))
);

-- revision 0033
ALTER TABLE saved_views ADD COLUMN login text NOT NULL DEFAULT '';
ALTER TABLE view_looks ADD COLUMN login text NOT NULL DEFAULT '';
DROP INDEX saved_views_living_names;
CREATE UNIQUE INDEX saved_views_living_names ON saved_views (tenant_id, project, login, owner, name) NULLS NOT DISTINCT
    WHERE NOT retired;
ALTER TABLE view_looks DROP CONSTRAINT view_looks_pkey;
ALTER TABLE view_looks ADD PRIMARY KEY (tenant_id, login, who, view_id);

-- revision 0034
DROP POLICY changes_of_scope ON changes;
CREATE POLICY changes_of_scope ON changes AS RESTRICTIVE USING (
    (SELECT COALESCE(current_setting('fivefold.projects', true), '') = '')
    OR (login = current_setting('fivefold.login', true) OR document_id IN (SELECT document_id FROM document_projects))
);
