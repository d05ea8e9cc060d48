ALTER TABLE "public_keys" ADD COLUMN "biz_id" text;--> statement-breakpoint
-- Sets the partner of keys without a batch, whichever version of the service stores them.
CREATE FUNCTION "set_partner_of_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT "users"."biz_id" INTO NEW."biz_id" FROM "users" WHERE "users"."user_id" = NEW."user_id";
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "set_partner_of_key" BEFORE INSERT OR UPDATE OF "root" ON "public_keys" FOR EACH ROW WHEN (NEW."root" IS NULL AND NEW."biz_id" IS NULL) EXECUTE FUNCTION "set_partner_of_key"();--> statement-breakpoint
UPDATE "public_keys" SET "biz_id" = "users"."biz_id" FROM "users" WHERE "users"."user_id" = "public_keys"."user_id" AND "public_keys"."root" IS NULL;--> statement-breakpoint
CREATE INDEX "pending_public_keys" ON "public_keys" USING btree ("biz_id","user_id") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE INDEX "sealed_user_tokens" ON "user_tokens" USING btree ("created") WHERE "user_tokens"."sealed_token" is not null;
