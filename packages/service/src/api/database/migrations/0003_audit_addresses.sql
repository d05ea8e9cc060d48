CREATE INDEX "audit_entries_with_address" ON "audit_entries" USING btree ("at","position") WHERE "audit_entries"."address" is not null;--> statement-breakpoint
-- IP addresses have their own retention. A transaction with this setting may delete old entries, or the addresses in them.
CREATE OR REPLACE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP IN ('DELETE', 'UPDATE') AND current_setting('keyroot.audit_retention', true) = 'on' THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE FUNCTION "keep_audit_columns"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER "keep_audit_columns" BEFORE UPDATE ON "audit_entries" FOR EACH ROW WHEN (NEW."address" IS NOT NULL OR to_jsonb(NEW) - 'address' IS DISTINCT FROM to_jsonb(OLD) - 'address') EXECUTE FUNCTION "keep_audit_columns"();
