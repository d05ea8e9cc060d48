DROP INDEX "server_tokens_of_partner";--> statement-breakpoint
DROP INDEX "user_tokens_of_user";--> statement-breakpoint
ALTER TABLE "partners" ADD COLUMN "request_hash" text;--> statement-breakpoint
CREATE INDEX "active_server_tokens" ON "server_tokens" USING btree ("biz_id") WHERE "server_tokens"."revoked" is null;--> statement-breakpoint
CREATE INDEX "active_user_tokens" ON "user_tokens" USING btree ("user_id") WHERE "user_tokens"."revoked" is null;--> statement-breakpoint
CREATE INDEX "server_tokens_of_partner" ON "server_tokens" USING btree ("biz_id","created","token_id");--> statement-breakpoint
CREATE INDEX "user_tokens_of_user" ON "user_tokens" USING btree ("user_id","created","token_id");--> statement-breakpoint
ALTER TABLE "partners" ADD CONSTRAINT "partners_request_hash_unique" UNIQUE("request_hash");