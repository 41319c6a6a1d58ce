INSERT INTO tenants (tenant_id, created_at)
VALUES ('default', '2026-11-22 20:29:50.595586+00');
INSERT INTO documents (tenant_id, id, name, sha256, size_bytes, state, uploaded_at, media_type, paged, title, project, source_type, labels, date, tags, pages, passages, warnings, step, failure, remedy, archived, origin, owner, url, parent, version_of, readable, cure)
VALUES ('default', '7', 'Ledgerloom_Release_Notes_6.4.md', '08413ea8641855bb04fbc8e105680cbc7be7eb0a74a31cc837576e10d824504a', '1755', 'ready', '2026-11-22 20:29:50.722309+00', 'text/markdown', 'false', 'Ledgerloom Payroll 6.4 release notes', NULL, 'upload', E'{"truth": {"value": "reference", "reason": "", "evidence": [{"rule": "is titled as advice", "quote": "# Ledgerloom Payroll 6.4 release notes\\n\\nLedgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "text", "weight": 2.063202}, {"rule": "reads most like reference", "quote": "These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "meaning", "weight": 1.923711}, {"rule": "file name of a guide or manual", "quote": "Ledgerloom_Release_Notes_6.4.md", "value": "reference", "source": "name", "weight": 1.89}, {"rule": "describes software", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.222807}, {"rule": "describes features of a product", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.043063}, {"rule": "explains how to use a product", "quote": "Install the release in the test tenant first", "value": "reference", "source": "text", "weight": 0.504054}], "confirmed": false, "runner_up": "compliance", "probability": 0.9995515650174351, "runner_up_probability": 0.0002069890249727918}, "domain": {"value": "time", "reason": "", "evidence": [{"rule": "words of time", "quote": "**Meal premium rule.** A missed meal period can now create one hour of premium pay by itself", "value": "time", "source": "text", "weight": 4.790287}, {"rule": "reads most like time", "quote": "Sick leave accrual plans may show the balance on the pay statement in hours or days.", "value": "time", "source": "meaning", "weight": 1.476435}], "confirmed": false, "runner_up": "earnings", "probability": 0.5533588284271835, "runner_up_probability": 0.18657562765323688}, "language": {"value": "en", "reason": "", "evidence": [{"rule": "letters and words as in this language", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "en", "source": "text", "weight": 1.0}], "confirmed": false, "runner_up": "pcm", "probability": 1.0, "runner_up_probability": 0.0}, "authority": {"value": "vendor", "reason": "", "evidence": [{"rule": "describes a product", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "vendor", "source": "text", "weight": 2.199747}, {"rule": "reads most like vendor", "quote": "Install the release in the test tenant first.", "value": "vendor", "source": "meaning", "weight": 1.24831}, {"rule": "reference is mostly said by: vendor", "quote": "# Ledgerloom Payroll 6.4 release notes\\n\\nLedgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.", "value": "vendor", "source": "text", "weight": 0.001}], "confirmed": false, "runner_up": "government", "probability": 0.9908281724585007, "runner_up_probability": 0.004080026060153205}, "jurisdiction": {"value": "global", "reason": "names no one place", "evidence": [], "confirmed": false, "runner_up": null, "probability": 0.7, "runner_up_probability": 0.0}, "effective_date": {"value": "2025-03-03", "reason": "", "evidence": [{"rule": "issued", "quote": "Release date: March 3, 2025", "value": "2025-03-03", "source": "text", "weight": 0.8}], "confirmed": false, "runner_up": null, "probability": 0.8, "runner_up_probability": 0.0}, "temporal_class": {"value": "dated", "reason": "", "evidence": [{"rule": "speaks about one year, day or release", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "dated", "source": "text", "weight": 1.0}], "confirmed": false, "runner_up": null, "probability": 0.8, "runner_up_probability": 0.0}}', '2025-03-03 00:00:00+00', '{}', '1', '6', '{}', '', '', '', 'false', 'document', '', '', NULL, NULL, '', 'again');
INSERT INTO pages (tenant_id, document_id, number, text, label)
VALUES ('default', '7', '1', '# Ledgerloom Payroll 6.4 release notes

Ledgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.

## New

**Meal premium rule.** A missed meal period can now create one hour of premium pay by itself. Create the earning code MEALPREM with the
category Premium, then turn on Setup > Time > Meal rules > Pay premium. The supervisor is asked to confirm before the premium is paid.

**Pay statements on the telephone.** Employees can open pay statements and Form W-2 in the mobile portal.

**Simulation of a whole pay group.** The simulator, until now limited to one person, compares a pay group before and after a change
of rules.

## Changed

The table Limits for 2025 is included: the 401(k) deferral limit is $23,500 and the social security wage base is $176,100. If you have
overridden a limit, the override stays; check Setup > Pay > Limits after the upgrade.

The garnishment engine now splits one payment between several child support orders in proportion to their amounts. Recalculate open
orders after the upgrade.

Sick leave accrual plans may show the balance on the pay statement in hours or days.

## Deprecated

The export format LL-Flat 1 will be removed in release 6.6. Use the open CSV export.

Earning codes of more than eight characters, which could be imported by mistake, are no longer accepted.

## Known problems

A shift that crosses the change to daylight saving time is paid one hour too many when the shift rule uses "Majority of hours". Correct
the time card by hand until patch 6.4.1.

## Upgrade

Install the release in the test tenant first. The upgrade takes about 20 minutes for a company of 200 employees, during which nobody can
clock in at web terminals.', '');
INSERT INTO knowledge_chunks (tenant_id, id, document_id, document_name, position, page, span_start, span_end, text, sentences, section, context, table_rows, truth, truth_probability, evidence, domain, authority, jurisdiction, date, temporal_class, source_type, origin, sector, table_role, project, tags, entities, keywords, archived, embedding, embedded_by, meanings)
VALUES ('default', '51', '7', 'Ledgerloom_Release_Notes_6.4.md', '0', '1', '0', '164', '# Ledgerloom Payroll 6.4 release notes

Ledgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.', '{0,38,40,60,61,89,90,164}', 'Ledgerloom Payroll 6.4 release notes', 'Ledgerloom Payroll 6.4 release notes', NULL, 'reference', '0.9995515650174351', E'[{"rule": "is titled as advice", "quote": "# Ledgerloom Payroll 6.4 release notes\\n\\nLedgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "text", "weight": 2.063202}, {"rule": "reads most like reference", "quote": "These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "meaning", "weight": 1.923711}, {"rule": "file name of a guide or manual", "quote": "Ledgerloom_Release_Notes_6.4.md", "value": "reference", "source": "name", "weight": 1.89}, {"rule": "describes software", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.222807}, {"rule": "describes features of a product", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.043063}, {"rule": "explains how to use a product", "quote": "Install the release in the test tenant first", "value": "reference", "source": "text", "weight": 0.504054}]', 'time', 'vendor', 'global', '2025-03-03 00:00:00+00', 'dated', 'upload', 'document', NULL, NULL, NULL, '{}', '{2025-03-03}', '{}', 'false', NULL, 'all-MiniLM-L6-v2@bcfe46d679df', '');
INSERT INTO knowledge_chunks (tenant_id, id, document_id, document_name, position, page, span_start, span_end, text, sentences, section, context, table_rows, truth, truth_probability, evidence, domain, authority, jurisdiction, date, temporal_class, source_type, origin, sector, table_role, project, tags, entities, keywords, archived, embedding, embedded_by, meanings)
VALUES ('default', '52', '7', 'Ledgerloom_Release_Notes_6.4.md', '1', '1', '166', '694', '## New

**Meal premium rule.** A missed meal period can now create one hour of premium pay by itself. Create the earning code MEALPREM with the
category Premium, then turn on Setup > Time > Meal rules > Pay premium. The supervisor is asked to confirm before the premium is paid.

**Pay statements on the telephone.** Employees can open pay statements and Form W-2 in the mobile portal.

**Simulation of a whole pay group.** The simulator, until now limited to one person, compares a pay group before and after a change
of rules.', '{0,6,8,101,102,215,216,278,280,385,387,528}', 'Ledgerloom Payroll 6.4 release notes › New', 'Ledgerloom Payroll 6.4 release notes
Ledgerloom Payroll 6.4 release notes › New', NULL, 'reference', '0.9995515650174351', E'[{"rule": "is titled as advice", "quote": "# Ledgerloom Payroll 6.4 release notes\\n\\nLedgerloom Software. Release date: March 3, 2025. These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "text", "weight": 2.063202}, {"rule": "reads most like reference", "quote": "These notes describe what is new, what has changed and what is deprecated.", "value": "reference", "source": "meaning", "weight": 1.923711}, {"rule": "file name of a guide or manual", "quote": "Ledgerloom_Release_Notes_6.4.md", "value": "reference", "source": "name", "weight": 1.89}, {"rule": "describes software", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.222807}, {"rule": "describes features of a product", "quote": "# Ledgerloom Payroll 6.4 release notes", "value": "reference", "source": "text", "weight": 1.043063}, {"rule": "explains how to use a product", "quote": "Install the release in the test tenant first", "value": "reference", "source": "text", "weight": 0.504054}]', 'time', 'vendor', 'global', '2025-03-03 00:00:00+00', 'dated', 'upload', 'document', NULL, NULL, NULL, '{}', '{"Form W-2"}', '{}', 'false', NULL, 'all-MiniLM-L6-v2@bcfe46d679df', '');
INSERT INTO score_profiles (tenant_id, name, version, data)
VALUES ('default', 'mine', '1', '{"profile": {"name": "mine", "weights": {"feedback": 0.3, "similarity": 0.17, "sentence": 0.1, "answer_kind": 0.08, "nearness": 0.08, "domain": 0.07, "keyword": 0.06, "in_a_row": 0.06, "jurisdiction": 0.05, "authority": 0.03}, "multipliers": {"asked_date": 1.0}, "threshold": 0.25, "floor": 0.25, "max_results": 10, "half_life_days": 21.0, "fusion_k": 60, "legs": {"dense": 0.65, "sparse": 0.2, "graph": 0.15}, "relational_legs": {"dense": 0.4, "sparse": 0.2, "graph": 0.4}, "routing_outside": null, "covered": null, "partial": null, "version": 1}, "who": "Ann", "at": "2026-11-22T20:34:35.449870Z", "note": "", "origin": "", "retired": false}');
INSERT INTO default_profiles (tenant_id, id, project, data)
VALUES ('default', '1', NULL, '{"project": null, "name": "mine", "who": "Ann", "at": "2026-11-22T20:34:41.632424Z"}');
INSERT INTO searches (tenant_id, id, question, hits, at)
VALUES ('default', '1', 'When must overtime be paid?', '10', '2026-11-22 20:31:12.386456+00');
INSERT INTO searches (tenant_id, id, question, hits, at)
VALUES ('default', '2', 'When must overtime be paid?', '13', '2026-11-22 20:31:17.328274+00');
INSERT INTO searches (tenant_id, id, question, hits, at)
VALUES ('default', '3', 'When must overtime be paid?', '10', '2026-11-22 20:32:33.806786+00');
INSERT INTO searches (tenant_id, id, question, hits, at)
VALUES ('default', '4', 'When must overtime be paid?', '10', '2026-11-22 20:34:57.500986+00');
INSERT INTO searches (tenant_id, id, question, hits, at)
VALUES ('default', '5', 'When must overtime be paid?', '13', '2026-11-22 20:35:34.946085+00');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', '$176,100', '$176,100', 'money', '$176,100', '{53}');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', '$23,500', '$23,500', 'money', '$23,500', '{53}');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', '2025-03-03', '2025-03-03', 'date', '2025-03-03', '{51}');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', 'CSV', 'CSV', 'technology', 'csv', '{54}');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', 'Form W-2', 'Form W-2', 'form', 'form w-2', '{52}');
INSERT INTO document_entities (tenant_id, document_id, name, spelling, type, folded, passages)
VALUES ('default', '7', 'child support', 'child support', 'concept', 'child support', '{53}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'summary', '1', '51', '2026-11-22 20:30:42.693742+00', '', '', E'{"sentences": [{"text": "**Simulation of a whole pay group.** The simulator, until now limited to one person, compares a pay group before and after a change\\nof rules.", "page": 1, "start": 553, "end": 694, "passage_id": 52, "sentence": 5}, {"text": "Sick leave accrual plans may show the balance on the pay statement in hours or days.", "page": 1, "start": 1089, "end": 1173, "passage_id": 53, "sentence": 5}, {"text": "Correct\\nthe time card by hand until patch 6.4.1.", "page": 1, "start": 1529, "end": 1577, "passage_id": 55, "sentence": 2}], "rewritten": ""}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'keywords', '1', '51', '2026-11-22 20:30:42.786747+00', '', '', '{"words": ["Ledgerloom Payroll", "pay statement", "release notes", "pay group", "earning code"]}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'questions', '1', '51', '2026-11-22 20:30:42.787544+00', '', '', '{"questions": []}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'document_type', '1', '51', '2026-11-22 20:30:42.789075+00', '', '', '{"value": "release_notes", "evidence": [{"quote": "Ledgerloom Payroll 6.4 release notes", "source": "metadata", "value": "release_notes", "weight": 2.8, "rule": "headed as release notes"}, {"quote": "be what is new, what has changed and what is deprecated.", "source": "text", "value": "release_notes", "weight": 1.2, "rule": "tells what is new"}, {"quote": "reference", "source": "metadata", "value": "release_notes", "weight": 0.6, "rule": "the truth this document is labelled with"}], "runner_up": "contract", "by_hand": false}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'citations', '1', '51', '2026-11-22 20:30:42.78981+00', '', '', '{"citations": []}');
INSERT INTO enrichments (tenant_id, document_id, operation, version, reading, at, problem, hint, data)
VALUES ('default', '7', 'dates', '1', '51', '2026-11-22 20:30:42.790281+00', '', '', '{"dates": [{"date": "2025-03-03", "what": "published", "said": {"text": "Release date: March 3, 2025.", "page": 1, "start": 61, "end": 89, "passage_id": 51, "sentence": 2}}]}');
INSERT INTO enrichment_edits (tenant_id, document_id, operation, data)
VALUES ('default', '7', 'keywords', '{"document_id": 7, "operation": "keywords", "who": "Ann", "at": "2026-11-22T20:31:00Z", "added": ["upgrade"], "removed": ["Ledgerloom Payroll"], "value": null}');
INSERT INTO readings (tenant_id, document_id, ended)
VALUES ('default', '7', '2026-11-22 20:30:34.405276+00');
